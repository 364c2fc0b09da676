"""Compared: what broke a claim, as a value: which acts are not as in the twin, and why.

1. The acts that broke the claim, and are not as in the twin.
2. An act whose task knew other things than in the twin, which were so, is not to blame: what it
   went by was done by others. So the acts that made what it knew are looked at in its place, if
   they are not as in the twin. That leads from who carries out to who decided.
3. What makes the claim hold in the twin, and never came here, or came with other values; and what
   the task of such an act would have known, had it come.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import attrs

from testbed.store.change import plural_of
from testbed.story.knowledge import Act
from testbed.story.twins.about import Breaking, breaking
from testbed.story.twins.asking_again import AskingAgain
from testbed.story.twins.looking_back import reasons, served_otherwise, why_missing
from testbed.story.twins.nearest import Twin, twins
from testbed.story.twins.pair import Pair, Parted
from testbed.story.twins.reason import BLIND, Reason, Why
from testbed.story.twins.side import EVENTS, PlayedSide, TracedEffect
from testbed.turns.verdict import Violation

TWINS_MAX = 3
"""At most this many twins are compared."""
BEHIND_MAX = 80
"""At most this many acts are looked at that stand behind others."""
DEEP_MAX = 3
"""Over at most this many acts one is looked at that stands behind another."""


@attrs.frozen(eq=False)
class Missing:
    """What the twin has done, so that the claim holds there, and never came in time here."""

    effect: TracedEffect
    """As it is in the twin."""
    pair: Pair
    twin: Twin
    so: TracedEffect | None = None
    """What broke the claim, and would have been otherwise had it come."""

    @property
    def actor(self) -> str:
        """Who did it in the twin."""
        return self.effect.act.actor

    @property
    def what(self) -> str:
        """What that was: `bind pods/default/a`, `record ready`."""
        version, record = self.effect.version, self.effect.record
        if version is None:
            assert record is not None
            return f"record {record.name}"
        return f"{version.word} {version.subject}"

    @property
    def key(self) -> str:
        """The object that it was about; the name of a record."""
        version, record = self.effect.version, self.effect.record
        return version.subject if version is not None else record.name if record else ""


@attrs.frozen(eq=False)
class UnlikeAct:
    """An act that is not as in the twin, and led to the Violation."""

    effect: TracedEffect
    how: Parted
    reasons: tuple[Reason, ...]
    """Why, the best first."""
    pair: Pair
    twin: Twin
    fields: tuple[str, ...] = ()
    """The fields that it wrote and that matter alone."""
    carried_out_by: TracedEffect | None = None
    """What broke the claim, and only went by this one."""
    never: Missing | None = None
    """What never came, as this stood in its way."""

    @property
    def reason(self) -> Reason:
        """The one that explains most."""
        return self.reasons[0]

    @property
    def is_typed(self) -> bool:
        """Whether a user did it who has read nothing: such a one decides by no object."""
        act = self.effect.act
        has_read = self.pair.bad.knowledge.has_read(act.actor, act.decided)
        return not has_read and self.reason.why not in BLIND

    @property
    def is_strong(self) -> bool:
        """Whether it is known why it is not as in the twin."""
        return self.reason.is_strong and not self.is_typed


@attrs.frozen(eq=False)
class Compared:
    """All that twins tell of a Violation."""

    about: tuple[Breaking, ...]
    """The commits and records without which it would not be there, the newest first."""
    twins: tuple[Twin, ...]
    deeds: tuple[UnlikeAct, ...]
    """What is not as in the twin, the best first."""
    missing: tuple[Missing, ...] = ()
    behind: frozenset[int] = frozenset()
    """The Steps of all that acts went by of which it is not known why they differ."""
    named: tuple[Missing, ...] = ()
    """What the twin has done to the objects that the Violation names, and never came here."""

    def deeds_of(self, actor: str, step: int) -> list[UnlikeAct]:
        """The deeds of that actor in that Step."""
        return [
            deed
            for deed in self.deeds
            if (deed.effect.act.actor, deed.effect.step) == (actor, step)
        ]


def compared_with(
    bad: PlayedSide, violation: Violation, named: Iterable[str], *, is_end: bool
) -> Compared:
    """What the twins of that Run tell of its Violation, which names these objects."""
    asking = AskingAgain(
        bad, violation.invariant, upto=violation.step, now_ms=violation.now_ms, is_end=is_end
    )
    about = breaking(asking)
    found = twins(bad, violation.invariant)
    deeds: list[UnlikeAct] = []
    missing: list[Missing] = []
    told = [effect for each in about for effect in each.effects]
    effects = [bad.written_before(effect) or effect for effect in told]
    for twin in found[:TWINS_MAX]:
        pair = Pair(bad, twin.side, effects, named, twin.late)
        some = list(_deeds(pair, twin, about))
        deeds += some
        if any(deed.is_strong for deed in some):
            continue
        made = list(_made_there(pair, twin, violation))
        if not some:
            some = list(_with_behind([each for each in made if isinstance(each, UnlikeAct)]))
            deeds += some
        never = [each for each in made if isinstance(each, Missing)]
        deeds += _in_the_way(never, violation.step)
        missing += never
        missing += _awaited(some)
    deeds.sort(key=_order)
    weak = [deed for deed in deeds if not deed.is_strong]
    behind = frozenset(effect.step for deed in weak for effect in _gone_by(deed))
    there = tuple(_named_there(found[:1], effects, bad, named)) if not missing else ()
    return Compared(tuple(about), tuple(found), tuple(deeds), tuple(missing), behind, there)


def _order(deed: UnlikeAct) -> tuple[object, ...]:
    is_behind = deed.carried_out_by is not None
    return (deed.is_typed, deed.reason.rank, is_behind, deed.twin.number, -deed.effect.step)


def _deeds(pair: Pair, twin: Twin, about: list[Breaking]) -> Iterator[UnlikeAct]:
    """(1) and (2), of what broke the claim."""
    broke = []
    for each in about:
        for told in each.effects:
            effect = pair.bad.written_before(told) or told
            fields = tuple(field for key, field in each.fields if key == effect.key)
            how = pair.how(effect, fields)
            if how is not Parted.SAME:
                why = _why(pair, twin, effect, how)
                broke.append(UnlikeAct(effect, how, why, pair, twin, fields))
    yield from _with_behind(broke)


def _why(pair: Pair, twin: Twin, effect: TracedEffect, how: Parted) -> tuple[Reason, ...]:
    """Why that act differs. Against a guard that sets some actors otherwise, the rule of such an
    actor explains what news does not."""
    found = reasons(pair, effect, how)
    is_written = effect.record is None
    if is_written and effect.act.actor in twin.ruled and not found[0].is_strong:
        return (Reason(Why.RULE), *found)
    return tuple(found)


def _with_behind(deeds: Iterable[UnlikeAct]) -> Iterator[UnlikeAct]:
    """(2) Those, and what stands behind those of which it is not known why; each act once."""
    done: set[tuple[int, str]] = set()
    for deed in deeds:
        yield deed
        if not deed.is_strong:
            yield from _behind(deed, deed.effect, done)


def _behind(
    deed: UnlikeAct, first: TracedEffect, done: set[tuple[int, str]], deep: int = 1
) -> Iterator[UnlikeAct]:
    """(2) What made what that act went by, if it is not as in the twin."""
    pair = deed.pair
    gone_by = list(_gone_by(deed))
    within = Pair(pair.bad, pair.twin, gone_by, pair.hot | pair.about, pair.late)
    for effect in gone_by:
        if (effect.step, effect.key) in done or len(done) > BEHIND_MAX:
            continue
        done.add((effect.step, effect.key))
        how = within.how(effect)
        if how is Parted.SAME:
            continue
        why = _why(within, deed.twin, effect, how)
        other = attrs.evolve(
            deed, effect=effect, how=how, reasons=why, fields=(), carried_out_by=first
        )
        yield other
        if not other.is_strong and deep < DEEP_MAX:
            yield from _behind(other, first, done, deep + 1)


def _gone_by(deed: UnlikeAct) -> Iterator[TracedEffect]:
    """What its server went by; else what its task had itself written, and the last write of another
    to each object that it knew; the newest first."""
    act, done = deed.effect.act, set()
    served = [reason.since for reason in deed.reasons if reason.why is Why.SERVED]
    for effect in reversed(deed.pair.bad.effects):
        if served:
            if any(effect.version is since for since in served if since is not None):
                yield effect
            continue
        version = effect.version
        if version is None or effect.is_aside or effect.step >= act.decided:
            continue
        if effect.act.path == act.path:
            yield effect
            continue
        known = deed.pair.bad.known(act.path, effect.key, act.decided)
        if known is None or known.sighting.revision < version.revision or effect.key in done:
            continue
        done.add(effect.key)
        yield effect


def _made_there(pair: Pair, twin: Twin, violation: Violation) -> Iterator[Missing | UnlikeAct]:
    """(3) What makes the claim hold in the twin: missing here, or done with other values."""
    steps = twin.side.steps
    asking = AskingAgain(
        twin.side, violation.invariant, upto=len(steps), now_ms=steps[-1].now_ms if steps else 0,
        is_end=True, breaks=False,
    )  # fmt: skip
    for effects in asking.making():
        for effect in effects:
            version = effect.version
            if version is None:
                if pair.is_only_in_twin(effect):
                    yield Missing(effect, pair, twin)
                continue
            if not pair.has_come(version, violation.step + 1):
                yield Missing(effect, pair, twin)
                continue
            sent = pair.request_like(effect.sent)
            for mine in pair.bad.effects:
                is_it = mine.sent is sent and mine.key == effect.key
                if is_it and pair.how(mine) is Parted.OTHER:
                    why = _why(pair, twin, mine, Parted.OTHER)
                    yield UnlikeAct(mine, Parted.OTHER, why, pair, twin)


def _in_the_way(missing: Iterable[Missing], end: int) -> Iterator[UnlikeAct]:
    """(3) What made what the task of such an act knew in its place, if it is known why that is not
    as in the twin."""
    for each in missing:
        for never in (each, upstream(each, end)):
            pair = never.pair
            _, reason = why_missing(pair, never.effect, end)
            mine = pair.request_like(never.effect.sent)
            served = served_otherwise(pair, mine) if mine is not None and mine.refused else ()
            went_by = [reason.since, *(each.since for each in served)]
            for effect in pair.bad.effects if not reason.is_strong else ():
                if effect.version is None or all(effect.version is not each for each in went_by):
                    continue
                how = pair.how(effect)
                why = _why(pair, never.twin, effect, how) if how is not Parted.SAME else ()
                if why and why[0].is_strong:
                    yield UnlikeAct(effect, how, why, pair, never.twin, never=never)


def _named_there(
    found: Iterable[Twin], effects: list[TracedEffect], bad: PlayedSide, named: Iterable[str]
) -> Iterator[Missing]:
    """(3) The same where the claim cannot be asked about another history."""
    for twin in found:
        if twin.is_guarded:
            return  # there much is otherwise that has nothing to do with it
        pair = Pair(bad, twin.side, effects, named, twin.late)
        for effect in twin.side.effects:
            version = effect.version
            if version is None or effect.is_aside or effect.key not in pair.hot:
                continue
            is_read = twin.side.knowledge.has_read(effect.act.actor, effect.step)
            if is_read and not pair.has_come(version, len(bad.steps) + 1):
                yield Missing(effect, pair, twin)


def _awaited(deeds: Iterable[UnlikeAct]) -> Iterator[Missing]:
    """(3) What the task of a deed knew in the twin, and had not come here."""
    for deed in deeds:
        reason, act = deed.reason, deed.effect.act
        awaited = reason.awaited
        if deed.is_strong or awaited is None or not reason.is_missing:
            continue
        for effect in deed.pair.twin.effects:
            if effect.version is awaited and awaited.actor != act.actor:
                yield Missing(effect, deed.pair, deed.twin, deed.effect)


def upstream(missing: Missing, end: int) -> Missing:
    """What another has not done, so that this never came; itself if it is not known to be so."""
    for _ in range(DEEP_MAX):
        _, reason = why_missing(missing.pair, missing.effect, end)
        awaited = reason.awaited
        if reason.is_strong and reason.why is not Why.ORDER:
            break
        if awaited is None or not reason.is_missing:
            before = _before_it(missing)
            if before is None:
                break
            missing = attrs.evolve(missing, effect=before)
            continue
        if not missing.pair.twin.knowledge.has_read(awaited.actor, awaited.step):
            break  # a user, who decides by no object
        effects = [e for e in missing.pair.twin.effects if e.version is awaited]
        if not effects or effects[0] is missing.effect:
            break
        missing = attrs.evolve(missing, effect=effects[0])
    return missing


def _before_it(missing: Missing) -> TracedEffect | None:
    """What its task had written before that in the twin, and never asked for here; the first."""
    pair, act = missing.pair, missing.effect.act
    for effect in pair.twin.effects:
        if effect.step >= missing.effect.step:
            return None
        is_its_own = effect.act.path == act.path and not effect.is_aside
        if is_its_own and pair.request_like(effect.sent) is None:
            return effect
    return None


def first_after(deed: UnlikeAct) -> UnlikeAct:
    """The first thing that its actor did after it got no answer or was struck, and does not in the
    twin; itself if there is none before it."""
    reason, act = deed.reason, deed.effect.act
    since = reason.sent.let_go if reason.sent is not None else reason.step
    for effect in deed.pair.bad.effects:
        is_its_own = effect.act.actor == act.actor and effect.version is not None
        if not is_its_own or not since < effect.step < deed.effect.step:
            continue
        if plural_of(effect.key) != EVENTS and deed.pair.how(effect) is Parted.EXTRA:
            return attrs.evolve(deed, effect=effect, carried_out_by=deed.effect)
    return deed


def why_there(
    bad: PlayedSide, violation: Violation, named: Iterable[str], path: str, at: int
) -> Reason | None:
    """Why a task stands where it stands in that turn, and not in the twin; None if no news tells
    that. Of a claim that cannot be asked again: a task has died there, or waits for ever."""
    for twin in twins(bad, violation.invariant)[:TWINS_MAX]:
        pair = Pair(bad, twin.side, (), named, twin.late)
        act = Act(at, at, path, path.partition("/")[0])
        effect = TracedEffect(at, "", act)
        for reason in reasons(pair, effect, Parted.EXTRA):
            if reason.why in (Why.STALE, Why.MEANWHILE) and reason.since is not None:
                return reason
    return None
