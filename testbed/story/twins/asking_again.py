"""Asking again: what a claim would have said, had something not been written or recorded.

The Store is written again up to the breach, without what is left out (see `history`). No Run is
played: actors keep what they remember.

A claim that is a function is asked once, at the moment at which it broke. Another one, which may
remember what it has seen, is made anew and sees the whole history again, turn by turn.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from typing import Any

from testbed.invariant import (
    COMMIT,
    DELIVERY,
    RECORD,
    SERVED,
    TURN,
    Evidence,
    FunctionClaim,
    Invariant,
)
from testbed.store.altered import AlteredStore
from testbed.store.change import Change
from testbed.story.twins.history import WHOLE, Undone, Written, history
from testbed.story.twins.side import PlayedSide, TracedEffect
from testbed.turns.option import DELIVER, HOLD, SERVE
from testbed.turns.trace import Record, Step

LOOKS_MAX = 60_000
"""Parted often a claim that sees the whole history is shown a turn, in all."""


class PastEvidence(Evidence):
    """What a claim is shown: the Evidence of the Run, with another history."""

    def __init__(self, real: Evidence, store: AlteredStore, records: list[Record]) -> None:
        self.__dict__.update(real.__dict__)
        self.store = store
        self.past_records = records
        self.past_ms = real.now_ms
        self.past_fault_ms = real.last_fault_ms
        self.past_served: Any = None

    @property
    def now_ms(self) -> int:
        return self.past_ms

    @property
    def records(self) -> list[Record]:
        return self.past_records

    @property
    def served(self) -> Any:
        return self.past_served

    @property
    def last_fault_ms(self) -> int:
        return self.past_fault_ms


class AskingAgain:
    """Asks the claim that broke in a Run, or one that held there, about another history of it."""

    def __init__(
        self,
        side: PlayedSide,
        name: str,
        *,
        upto: int,
        now_ms: int,
        is_end: bool,
        breaks: bool = True,
    ) -> None:
        self.side = side
        self._name = name
        self._upto = upto
        self._now_ms = now_ms
        self._is_end = is_end
        world = side.trace.played_in
        self._world = world
        self.changes: list[Change] = [
            *side.initial.values(),
            *(c for step in side.steps[:upto] for c in step.marks.changes),
        ]
        self._records: list[Record] = [r for r in world.table.records if r.step <= upto]
        self._steps = [step for step in side.steps[:upto] if step.kind != HOLD]
        self._by_step: dict[int, int] = {}
        for step in side.steps[:upto]:
            self._by_step |= {change.serial: step.number for change in step.marks.changes}
        self._looks_left = LOOKS_MAX
        claims = [each for each in world.judge.own if each.name == name]
        self._claim: Invariant | None = next(iter(claims), None)
        self._ask: Callable[[Undone, Collection[int]], str | None] | None = None
        if isinstance(self._claim, FunctionClaim):
            self._ask = self._at_once
        self.can_be_asked = self._claim is not None and self._answers(breaks=breaks)
        """Whether it says of the history as it was what it said of the Run."""

    def _answers(self, *, breaks: bool) -> bool:
        for ask in (self._ask, self._turn_by_turn):
            if ask is not None:
                self._ask = ask
                if self.breaks({}) is breaks:
                    return True
        return False

    def making(self) -> Iterator[list[TracedEffect]]:
        """Of a claim that holds: the commits without which it breaks, oldest first; if there are
        none, such records."""
        if not self.can_be_asked:
            return
        at: dict[int, list[TracedEffect]] = {}
        for effect in self.side.effects:
            if effect.change is not None and not effect.is_aside:
                at.setdefault(effect.change.revision, []).append(effect)
        is_found = False
        for _, effects in sorted(at.items()):
            if self.breaks({e.change.serial: WHOLE for e in effects if e.change is not None}):
                is_found = True
                yield effects
        for effect in self.side.effects if not is_found else ():
            if effect.record is not None and self.breaks({}, {effect.record.number}):
                yield [effect]

    def breaks(self, undone: Undone, left_out: Collection[int] = ()) -> bool:
        """Whether the claim breaks without these Changes, and without the Records with these
        numbers."""
        assert self._ask is not None
        try:
            return self._ask(undone, left_out) is not None
        except Exception:  # noqa: BLE001 - a claim may stumble over what never came up
            return True

    def _rebuilt(self, undone: Undone) -> AlteredStore:
        store = AlteredStore.like(self._world.store)
        for written in history(self.changes, undone):
            store.come_to(written.change.revision - 1)
            if not written.is_out:
                store.write(written.change.key, written.value, written.change.revision)
            store.come_to(written.change.revision)
        return store

    def _kept(self, left_out: Collection[int]) -> list[Record]:
        return [record for record in self._records if record.number not in left_out]

    def _at_once(self, undone: Undone, left_out: Collection[int]) -> str | None:
        claim = self._claim
        assert isinstance(claim, FunctionClaim)
        store = self._rebuilt(undone)
        shown = PastEvidence(self._world.evidence, store, self._kept(left_out))
        shown.past_ms = self._now_ms
        last = self.side.steps[self._upto - 1] if self._upto else None
        shown.changes = ()
        if last is not None and not self._is_end:
            shown.changes = tuple(c for c in last.marks.changes if c.serial not in undone)
        said = claim.claim(shown)
        return None if said is None else str(said)

    def _turn_by_turn(self, undone: Undone, left_out: Collection[int]) -> str | None:
        again = self._world.again
        if again is None or self._looks_left <= 0:
            return None
        world = again()
        claim = next(each for each in world.judge.own if each.name == self._name)
        store = AlteredStore.like(self._world.store)
        shown = PastEvidence(self._world.evidence, store, [])
        by_step: dict[int, list[Written]] = {}
        for written in history(self.changes, undone):
            by_step.setdefault(self._by_step.get(written.change.serial, 0), []).append(written)
        self._follow(store, by_step.get(0, ()))
        records = iter(self._kept(left_out))
        upcoming = next(records, None)
        for step in self._steps:
            shown.changes = self._follow(store, by_step.get(step.number, ()))
            is_told = False
            while upcoming is not None and upcoming.step <= step.number:
                shown.past_records.append(upcoming)
                upcoming, is_told = next(records, None), True
            shown.past_ms = step.now_ms
            shown.past_served = step.option.source if step.kind == SERVE else None
            for occasion in _occasions(step, bool(shown.changes), is_told):
                if occasion in claim.looks_at:
                    self._looks_left -= 1
                    if (said := claim.look(step, shown)) is not None:
                        return str(said)
        shown.changes = ()
        return claim.end(shown) if self._is_end else None

    def _follow(self, store: AlteredStore, some: Sequence[Written]) -> tuple[Change, ...]:
        made = []
        for written in some:
            store.come_to(written.change.revision - 1)
            if not written.is_out:
                change = store.write(written.change.key, written.value, written.change.revision)
                made += [] if change is None else [change]
        if some:
            store.come_to(some[-1].change.revision)
        return tuple(made)


def _occasions(step: Step, has_commit: bool, has_record: bool) -> Iterator[str]:
    if has_commit:
        yield COMMIT
    if step.kind == SERVE:
        yield SERVED
    if step.kind == DELIVER:
        yield DELIVERY
    if has_record:
        yield RECORD
    yield TURN
