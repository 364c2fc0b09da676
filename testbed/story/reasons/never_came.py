"""Never came: what would have made the claim hold was not done, or too late, or for nothing.

1. It was asked, and refused or lost, and never asked again.
2. It was asked, and changed nothing: another had done the same, or its actor went by old news.
3. Its actor did not ask, since it knew otherwise, or was struck, or took something else first.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import attrs

from testbed.story.believing import believing, line_said
from testbed.story.cause import Cause, CauseShape, sentence
from testbed.story.deciding import decided
from testbed.story.knowledge import Act, StaleAct, changed_nothing
from testbed.story.refusing import refused, taken_late, tried_again
from testbed.story.requests import CRASHED, Sent
from testbed.story.slice import Slice
from testbed.story.twins.compared import Missing, upstream
from testbed.story.twins.looking_back import why_missing
from testbed.story.twins.reason import Reason, Why
from testbed.story.wording import acted, came, did, did_where, own_of, wrote
from testbed.turns.option import FAULT
from testbed.turns.trace import SAID
from testbed.words import past

Find = Callable[[Slice, Missing, Act, Reason], Cause | None]
"""Finds why something never came; given where its task stood instead, and why it stood there."""


def told(slice_: Slice, missing: Missing, *, is_weak: bool = False) -> Cause | None:
    """Why that effect of the twin is not here, or too late. If `is_weak`, also if no more is known
    than what its task knew, or which line of the race made that."""
    last, missing = missing, upstream(missing, slice_.end)
    stood, reason = why_missing(missing.pair, missing.effect, slice_.end)
    finders: Sequence[Find] = (*FINDERS, _knew_so) if is_weak else FINDERS
    for find in (_said,) if missing.twin.has_other_objects else finders:
        cause = find(slice_, missing, stood, reason)
        if cause is None:
            continue
        so = missing.so
        if missing is not last and last.effect.record is not None:
            return cause
        if missing is not last:
            rest = f"; so {last.actor} never {done(last)}"
        elif so is not None and so.step > cause.step:
            rest = f"; so {acted(so.act)}"
            cause = attrs.evolve(cause, also=(*cause.also, so.step))
        else:
            return cause
        return attrs.evolve(cause, text=sentence(cause.text.removesuffix("."), (rest, "")))
    return None


def done(missing: Missing) -> str:
    """What it was, as people say it: `bound pods/default/a`, `recorded ready`."""
    version, record = missing.effect.version, missing.effect.record
    if version is not None:
        return did(version, missing.key)
    return f"recorded {record.name}" if record is not None else ""


def _like_it(slice_: Slice, missing: Missing) -> list[Sent]:
    """The requests of the same actor for the same, here, the last first."""
    wanted = missing.effect.sent
    if wanted is None:
        return []
    return [
        sent
        for sent in reversed(slice_.requests.all)
        if (sent.actor, sent.verb, sent.key) == (wanted.actor, wanted.verb, wanted.key)
        and sent.step <= slice_.end
    ]


def turned_down(slice_: Slice, missing: Missing) -> Cause | None:
    """That it was refused for an earlier request of its own, of which it got no answer; or that its
    actor has been refused something else ever since."""
    sent = _in_vain_of(slice_, missing)
    if sent is None:
        _, reason = why_missing(missing.pair, missing.effect, slice_.end)
        sent = reason.sent
    if sent is None or not sent.refused:
        return None
    lost = taken_late(slice_, sent)
    if lost is not None:
        text = sentence(
            f"{lost.actor}'s {lost.word} of {lost.key} {lost.unanswered} (step {lost.let_go}), and",
            f"took effect all the same (step {lost.step}); so the next was refused, {sent.refused}",
        )
        return Cause(
            CauseShape.DID_IT_HAPPEN, text, sent.actor, missing.what, None, lost.step, (sent.step,)
        )
    again, last = tried_again(slice_, sent)
    if again:
        text = sentence(
            f"{sent.actor}: {refused(slice_, sent)}, and it never came to that again:", again
        )
        return Cause(CauseShape.HALF_DONE, text, sent.actor, missing.what, None, sent.step, (last,))
    return None


def _refused(slice_: Slice, missing: Missing) -> Cause | None:
    """That it was refused, and never asked again; with what its actor had counted on, if that was
    not so."""
    sent = _in_vain_of(slice_, missing)
    if sent is None or not sent.refused:
        return None
    stood, reason = why_missing(missing.pair, missing.effect, slice_.end)
    head = (
        f"{sent.actor}'s {sent.word} of {sent.key} was refused, {sent.refused} "
        f"(step {sent.step}), and {sent.actor} never did it again"
    )
    if not reason.is_strong or reason.since is None or reason.known is None:
        text = sentence(head)
        return Cause(CauseShape.HALF_DONE, text, sent.actor, missing.what, None, sent.step)
    stale, link = StaleAct(stood, reason.known, (reason.since,)), ": it had believed that"
    cause = believing(slice_, stale, reason.since, head, reason.field, link=link)
    return attrs.evolve(cause, did=missing.what, step=sent.step)


def _in_vain_of(slice_: Slice, missing: Missing) -> Sent | None:
    """(1) The last such request, if it came to nothing."""
    sent = next(iter(_like_it(slice_, missing)), None)
    if sent is None or sent.changes or sent.why == CRASHED or not (sent.refused or sent.let_go):
        return None
    return sent


def _in_vain(slice_: Slice, missing: Missing, stood: Act, reason: Reason) -> Cause | None:
    sent = _in_vain_of(slice_, missing)
    if sent is None or sent.refused:
        return _refused(slice_, missing)
    text = sentence(
        f"{sent.actor}'s {sent.word} of {sent.key} {sent.unanswered} and had no effect",
        f"(step {sent.step}), and {sent.actor} never did it again",
    )
    return Cause(CauseShape.HALF_DONE, text, sent.actor, missing.what, None, sent.step)


def _knew(slice_: Slice, missing: Missing, stood: Act, reason: Reason) -> Cause | None:
    """(2) and (3) What its task knew otherwise when it did otherwise."""
    since = reason.since
    if since is None or not reason.is_strong:
        return None
    head = _head(missing, stood)
    if since.actor == missing.actor:
        at = f"at rv {since.revision} (step {since.step})"
        text = sentence(f"{head}: its Cache did not show its own {since.word} of {since.key} {at}")
        return Cause(CauseShape.OLD_NEWS, text, missing.actor, missing.what, since, stood.step)
    if reason.known is None:
        text = sentence(f"{head}, not knowing of {reason.key}; {wrote(since, 'it')}")
        return Cause(CauseShape.OLD_NEWS, text, missing.actor, missing.what, since, stood.step)
    stale = StaleAct(stood, reason.known, (since,))
    cause = believing(slice_, stale, since, head, reason.field)
    return attrs.evolve(cause, did=missing.what)


def _head(missing: Missing, stood: Act) -> str:
    mine = missing.pair.request_like(missing.effect.sent)
    if mine is None or mine.step != stood.step:
        return f"{missing.actor} never {done(missing)}"
    how = "" if mine.changes else " to what it was already"
    return f"{missing.actor} {past(mine.word)} {missing.key}{how} (step {mine.step})"


def _struck(slice_: Slice, missing: Missing, stood: Act, reason: Reason) -> Cause | None:
    """(3) The last fault that struck its actor before, and the twin does not have."""
    struck = [
        step
        for step in slice_.steps[: slice_.end]
        if step.kind == FAULT and missing.actor in (step.option.actor, step.option.key)
    ]
    theirs = sum(
        step.kind == FAULT and missing.actor in (step.option.actor, step.option.key)
        for step in missing.pair.twin.steps
    )
    if len(struck) <= theirs:
        return None
    fault = struck[-1]
    said = fault.option.fault.describe(fault.option.key)
    text = sentence(
        f"{said} (step {fault.number}) before it could {missing.what},",
        "which then never happened in time",
    )
    return Cause(CauseShape.HALF_DONE, text, missing.actor, missing.what, None, fault.number)


def _unanswered(slice_: Slice, missing: Missing, stood: Act, reason: Reason) -> Cause | None:
    """(3) An earlier request of its actor got no answer, and took effect all the same, or not."""
    sent = reason.sent
    if reason.why is not Why.NO_ANSWER or sent is None:
        return None
    took = f"it took effect all the same (step {sent.step})" if sent.changes else "it had no effect"
    text = sentence(
        f"{sent.actor}'s {sent.word} of {sent.key} {sent.unanswered} (step {sent.let_go}), and",
        f"{took}; it never {done(missing)}",
    )
    return Cause(CauseShape.DID_IT_HAPPEN, text, sent.actor, missing.what, None, sent.step)


def _late(slice_: Slice, missing: Missing, stood: Act, reason: Reason) -> Cause | None:
    """(3) What its actor saw later than in the twin, or never."""
    if reason.why is not Why.ORDER or reason.late is None:
        return None
    head = f"{missing.actor} never {done(missing)}: {came(reason.late)}"
    head += f" came (step {reason.came})" if reason.came else " never came"
    first = reason.first if reason.came else None
    after = f"only after {came(first)} (step {first.number})" if first is not None else ""
    text = sentence(head, after)
    return Cause(CauseShape.HALF_DONE, text, missing.actor, missing.what, None, stood.step)


def _instead(slice_: Slice, missing: Missing, stood: Act, reason: Reason) -> Cause | None:
    """(3) What the same task asked for at that place, if that was something else."""
    if missing.pair.request_like(missing.effect.sent) is not None:
        return None
    later = [
        sent
        for sent in slice_.requests.all
        if sent.path == stood.path and sent.is_write and stood.decided <= sent.asked <= slice_.end
    ]
    if not later:
        return None
    sent = later[0]
    if missing.pair.bad.value(missing.key, sent.asked) is None:
        return None  # it could not have: that was not there yet
    acts = [act for act in slice_.knowledge.acts if act.step == sent.step and act.versions]
    if acts:
        placed, why = did_where(own_of(acts[0])), decided(slice_, acts[0])
        head = f"{missing.actor} {placed} (step {sent.step}), and not {missing.key}"
        text = sentence(head, (f"; {why}" if why else "", ""))
    elif sent.refused:
        text = sentence(
            f"{missing.actor}'s {sent.word} of {sent.key} was refused, {sent.refused}",
            f"(step {sent.step}), and it never {done(missing)}",
        )
    else:
        return None
    return Cause(CauseShape.UNKNOWN, text, missing.actor, missing.what, None, sent.step)


def _is_worded(act: Act) -> bool:
    return act.record is not None and SAID in act.record.facts


def _again(slice_: Slice, missing: Missing, stood: Act, reason: Reason) -> Cause | None:
    """(3) A write of the same actor that changed nothing, and is not in the twin."""
    for sent in reversed(slice_.requests.all):
        is_extra = sent.actor == missing.actor and sent.parts and not missing.pair.in_twin(sent)
        if is_extra and sent.step <= slice_.end and changed_nothing(sent.parts[-1]):
            before = [
                version
                for version in slice_.knowledge.versions.get(sent.key, [])
                if version.actor == sent.actor and version.step < sent.step
            ]
            own = before[-1] if before else None
            had = f", as it had left it at rv {own.revision} (step {own.step})" if own else ""
            text = sentence(
                f"{sent.actor} {past(sent.word)} {sent.key} again, to what it was already",
                f"(step {sent.step})",
                (had, ""),
                f"; it never {done(missing)}",
            )
            return Cause(CauseShape.HALF_DONE, text, sent.actor, missing.what, own, sent.step)
    return None


def _knew_so(slice_: Slice, missing: Missing, stood: Act, reason: Reason) -> Cause | None:
    """(3) By which line of the race; else what its task knew, and was so."""
    since, line = reason.since, missing.twin.line
    said = line_said(slice_, line) if line is not None else ""
    if said:
        text = sentence(f"{missing.actor} never {done(missing)}: {said}")
        return Cause(CauseShape.UNKNOWN, text, missing.actor, missing.what, None, stood.step)
    if since is None or since.actor == missing.actor:
        return None
    text = sentence(f"{missing.actor} never {done(missing)}; it knew that {wrote(since)}")
    return Cause(CauseShape.UNKNOWN, text, missing.actor, missing.what, since, stood.step)


def _ruled(slice_: Slice, missing: Missing, stood: Act, reason: Reason) -> Cause | None:
    """(3) Nothing: with the guard on, its actor goes by another rule."""
    if missing.actor not in missing.twin.ruled:
        return None
    acts = [act for act in slice_.knowledge.acts if act.actor == missing.actor]
    said = [act for act in acts if act.record and missing.key in act.record.speaks_of]
    why = f": it {said[-1].record.said}" if said and said[-1].record is not None else ""
    text = sentence(
        f"{missing.actor} never {done(missing)}, and would with the guard on, though it saw the",
        f"same{why}",
    )
    return Cause(CauseShape.UNKNOWN, text, missing.actor, missing.what, None, stood.step)


def _said(slice_: Slice, missing: Missing, stood: Act, reason: Reason) -> Cause | None:
    """(3) What its actor has last recorded of that object."""
    acts = [act for act in slice_.knowledge.acts if act.step <= slice_.end]
    # What it has put in a sentence says most.
    for act in sorted(acts, key=lambda each: (not _is_worded(each), -each.step)):
        record = act.record
        if record is None or act.actor != missing.actor:
            continue
        if missing.key in record.speaks_of:
            text = sentence(f"{act.actor} {record.said} (step {act.step})")
            return Cause(CauseShape.UNKNOWN, text, act.actor, missing.what, None, act.step)
    return None


FINDERS: Sequence[Find] = (
    _in_vain,
    _struck,
    _knew,
    _unanswered,
    _late,
    _instead,
    _again,
    _ruled,
    _said,
)
"""In the order of how much each explains."""
