"""Opening: the one cause that a story begins with.

The Run is compared with its twin, the nearest Run in which the claim holds. What a finder tells
counts if the twin confirms it: that act is not as in the twin, and for that reason. If none is
confirmed, what the twin shows is told by itself: first what explains why an act differs, then what
the twin has done and never came here. Where there is no twin, nobody is accused of more than the
trace shows. A to and fro, and a death, have no twin that tells more.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator

import attrs

from testbed.story.candidates import causes_of
from testbed.story.cause import Cause, CauseShape, sentence
from testbed.story.reasons import (
    at_its_end,
    by_line,
    checked,
    in_other_order,
    never_came,
    otherwise,
    outdated,
    reborn,
    refused,
    ruled,
    struck,
    unanswered,
    without,
)
from testbed.story.reruns import setting
from testbed.story.slice import Slice
from testbed.story.twins.compared import Compared, UnlikeAct, compared_with, first_after
from testbed.story.twins.pair import Pair, Parted
from testbed.story.twins.reason import Why
from testbed.story.twins.side import PlayedSide
from testbed.story.wording import acted
from testbed.turns.found import DIED

TOLD = {
    Why.CHECKED: checked.told,
    Why.STALE: outdated.told,
    Why.MEANWHILE: outdated.told,
    Why.OVERTAKEN: outdated.told,
    Why.NO_ANSWER: unanswered.told,
    Why.REFUSED: refused.told,
    Why.NEW_LIFE: reborn.told,
    Why.RULE: ruled.told,
    Why.SERVED: otherwise.told,
    Why.NEWS: otherwise.told,
    Why.OWN: otherwise.told,
    Why.STRUCK: struck.told,
    Why.ORDER: in_other_order.told,
    Why.SAME: ruled.told,
}
"""What renders each reason."""
OF_A_CRASH = frozenset({CauseShape.GONE, CauseShape.HALF_DONE, CauseShape.DID_IT_HAPPEN})
"""Shapes that tell what a life left behind that ended."""
ALONE = frozenset({CauseShape.DISAGREE})
"""Shapes of which no single act is the cause, so that none can be compared."""


def cause_of(slice_: Slice) -> Cause | None:
    """Why the claim broke; None if none did."""
    if slice_.violation is None:
        return None
    return attrs.evolve(_chosen(slice_), setting=setting.said(slice_.trace))


def _chosen(slice_: Slice) -> Cause:
    """What the finders tell of an act that the twin confirms; else what the twin tells."""
    violation = slice_.violation
    assert violation is not None
    first = next(causes_of(slice_))
    if first.shape in ALONE:
        return first
    if violation.reason == DIED:
        return at_its_end.died(slice_, first)
    if not _is_of_scenario(slice_):
        return first if first.is_told else at_its_end.stuck(slice_) or first
    is_end = bool(slice_.steps) and violation.step >= slice_.steps[-1].number
    side = PlayedSide(slice_.trace, slice_.knowledge, slice_.requests)
    compared = compared_with(side, violation, slice_.named_keys, is_end=is_end)
    if not _is_known(compared) and compared.missing:
        turned_down = never_came.turned_down(slice_, compared.missing[0])
        if turned_down is not None:
            return turned_down
    for cause in causes_of(slice_):
        if agrees(compared, cause):
            never = None if cause.since or _is_known(compared) else _never(slice_, compared)
            return never if never is not None and never.since is not None else cause
    return (
        next(_told(slice_, compared), None)
        or next(_weaker(slice_, compared, {Why.SAME}), None)
        or _left_over(slice_, side, compared, is_guess=False)
        or _left_over(slice_, side, compared, is_guess=True, is_behind=True)
        or next(_weaker(slice_, compared, {*Why} - {Why.SAME}), None)
        or _never(slice_, compared, is_weak=True)
        or _left_over(slice_, side, compared, is_guess=True)
        or (first if first.is_told else None)
        or _by_line(slice_, compared)
        or next(filter(None, (never_came.told(slice_, each) for each in compared.named)), None)
        or (by_line.alone(slice_, compared.twins[0]) if compared.twins else None)
        or without.told(slice_, compared, first)
    )


def _is_of_scenario(slice_: Slice) -> bool:
    """Whether the scenario makes that claim, and its World is known: then it can be asked again."""
    violation, world = slice_.violation, slice_.trace.played_in
    if violation is None or world is None:
        return False
    return any(claim.name == violation.invariant for claim in world.judge.own)


def _never(slice_: Slice, compared: Compared, *, is_weak: bool = False) -> Cause | None:
    """Why what the twin has done never came here; the first that is known."""
    found = (never_came.told(slice_, each, is_weak=is_weak) for each in compared.missing)
    return next(filter(None, found), None)


def _is_known(compared: Compared) -> bool:
    """Whether it is known of some act why it is not as in the twin."""
    return any(deed.is_strong for deed in compared.deeds)


def agrees(compared: Compared, cause: Cause) -> bool:
    """Whether the twin confirms what a finder tells: that this act is not as there, and why."""
    if cause.is_guess:
        return False
    is_known = _is_known(compared)
    deeds = compared.deeds_of(cause.actor, cause.step)
    if not deeds:
        return _is_half_done(compared, cause)
    for deed in deeds:
        reason, since = deed.reason, cause.since
        if not deed.is_strong:
            is_so = not is_known and cause.shape is not CauseShape.UNKNOWN
        elif reason.why in (Why.NEW_LIFE, Why.REFUSED, Why.RULE):
            is_so = cause.shape is not CauseShape.UNKNOWN
        elif reason.why is Why.NO_ANSWER:
            is_so = cause.shape is CauseShape.DID_IT_HAPPEN
        else:
            is_so = since is not None and since.key == reason.key
        if is_so:
            return True
    return False


def _is_half_done(compared: Compared, cause: Cause) -> bool:
    """Whether it tells of a crash of who did, in its next life, what broke the claim; or of who has
    not done what the twin has done."""
    best = compared.deeds[:1]
    if best and best[0].is_strong:
        is_reborn = best[0].reason.why is Why.NEW_LIFE and cause.shape in OF_A_CRASH
        return is_reborn and best[0].effect.act.actor == cause.actor
    never = next(iter(compared.missing), None)
    if never is None or never.actor != cause.actor or cause.shape is CauseShape.UNKNOWN:
        return False
    # A record has a name and no object.
    is_it = cause.did in (never.what, cause.did.split()[0])
    return is_it or cause.shape in OF_A_CRASH


def _told(slice_: Slice, compared: Compared) -> Iterator[Cause]:
    """What the twins tell by themselves, the best first."""
    for deed in compared.deeds:
        for reason in deed.reasons if deed.is_strong else ():
            told = TOLD[reason.why]
            if not reason.is_strong:
                break
            one = attrs.evolve(deed, reasons=(reason,))
            one = first_after(one) if reason.why in (Why.NO_ANSWER, Why.STRUCK) else one
            if (cause := told(slice_, one, acted(one.effect.act))) is not None:
                yield _carried_out(one, cause)
    if (never := _never(slice_, compared)) is not None:
        yield never


def _by_line(slice_: Slice, compared: Compared) -> Cause | None:
    """By which line of the race what broke the claim is not as in the twin."""
    for deed in compared.deeds:
        if not deed.is_strong and not deed.is_typed:
            cause = by_line.told(slice_, deed, acted(deed.effect.act))
            if cause is not None:
                return _carried_out(deed, cause)
    return None


def _weaker(slice_: Slice, compared: Compared, why: Collection[Why]) -> Iterator[Cause]:
    """What is not as in the twin for one of these reasons, and went by what was so."""
    for deed in sorted(compared.deeds, key=lambda each: not each.reason.is_missing):
        if not deed.is_strong and not deed.is_typed and deed.reason.why in why:
            cause = TOLD[deed.reason.why](slice_, deed, acted(deed.effect.act))
            if cause is not None:
                yield _carried_out(deed, cause)


def _carried_out(deed: UnlikeAct, cause: Cause) -> Cause:
    """The same, with what went by it and broke the claim, at the end."""
    if deed.never is not None:
        never, sent = deed.never, deed.never.pair.request_like(deed.never.effect.sent)
        rest = f"; so {never.actor} never {never_came.done(never)}"
        if sent is not None and sent.refused:
            rest = f"; so {never.actor}'s {sent.word} of {sent.key} was refused, {sent.refused}"
        text = sentence(cause.text.removesuffix("."), (rest, ""))
        return attrs.evolve(cause, text=text)
    if deed.carried_out_by is None:
        return cause
    by = deed.carried_out_by.act
    text = sentence(cause.text.removesuffix("."), (f"; so {acted(by)}", ""))
    return attrs.evolve(cause, text=text, also=(*cause.also, by.step))


def _is_read(twin: PlayedSide, cause: Cause) -> bool:
    """Whether that actor reads there what it is said to have never read here."""
    since = cause.since
    return since is None or twin.knowledge.has_met(cause.actor, since.key, len(twin.steps))


def _left_over(
    slice_: Slice, side: PlayedSide, compared: Compared, *, is_guess: bool, is_behind: bool = False
) -> Cause | None:
    """The first that a finder tells of an act that is not as in the twin, or broke the claim, or is
    what such an act went by."""
    if not compared.twins:
        return None
    pair = Pair(side, compared.twins[0].side, (), ())
    for cause in causes_of(slice_):
        if cause.shape is CauseShape.UNKNOWN or cause.is_guess is not is_guess:
            continue
        if is_behind and cause.step not in compared.behind:
            continue
        twin = compared.twins[0]
        if is_guess and (twin.has_other_objects or not _is_read(twin.side, cause)):
            continue
        acts = [e for e in pair.bad.effects if (e.act.actor, e.step) == (cause.actor, cause.step)]
        is_about = cause.step in compared.behind or any(
            each.step == cause.step for one in compared.about for each in one.effects
        )
        if is_about or any(pair.how(each) is not Parted.SAME for each in acts):
            return cause
    return None
