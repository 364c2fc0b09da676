"""Judge: lets every Invariant look when it has an occasion to, and keeps what they found."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

from testbed.client.wire import Wire
from testbed.errors import ScenarioError
from testbed.invariant import (
    COMMIT,
    DEATH,
    DELIVERY,
    RECORD,
    RECORDS,
    SERVED,
    TURN,
    Evidence,
    Invariant,
    Violation,
)
from testbed.store.footprint import TIME, Footprint
from testbed.turns.option import FAULT, START
from testbed.turns.table import Table
from testbed.turns.trace import Step

SEEN = "log:@seen"
"""Added to by a turn that a claim may see the outcome of, though it does not look just then."""
SHOWN = ("cache:", "life:", TIME)
"""What an Evidence shows beside commits and records."""

Kind = TypeVar("Kind", bound=Invariant)


class Judge:
    """All that is claimed of one Run, and what was found so far: one Violation a claim."""

    def __init__(self, table: Table, wire: Wire, evidence: Evidence) -> None:
        self.violations: list[Violation] = []
        self._table = table
        self._wire = wire
        self._evidence = evidence
        self._invariants: list[Invariant] = []
        self._lookers: dict[str, list[Invariant]] = {}
        self._records_seen = 0
        self._deaths_seen = 0
        self.minds_order = False
        """Whether a search leaves out orders, and must be told which ones the claims can tell."""

    def claimed(self, kind: type[Kind]) -> list[Kind]:
        """The claims of one kind."""
        return [claim for claim in self._invariants if isinstance(claim, kind)]

    @property
    def claims(self) -> list[str]:
        """The names of what is claimed, in order."""
        return [invariant.name for invariant in self._invariants]

    def claim(self, *invariants: Invariant) -> None:
        """Judge by these, too."""
        for invariant in invariants:
            if not isinstance(invariant, Invariant):
                raise ScenarioError(
                    f"world.claim was given {invariant!r}: expected a claim that says when it "
                    "holds.\nNext: world.claim(always(f)), quiescent(f) or eventually(f)."
                )
            self._invariants.append(invariant)
            for occasion in invariant.looks_at:
                self._lookers.setdefault(occasion, []).append(invariant)

    def has_cause(self) -> bool:
        """Whether anybody would look after this turn, though nothing was committed or told."""
        table = self._table
        return (
            len(table.records) > self._records_seen
            or len(table.deaths) > self._deaths_seen
            or TURN in self._lookers
            or (SERVED in self._lookers and self._wire.served is not None)
            or self.minds_order
        )

    def turn_ended(self, step: Step | None) -> None:
        """Let those look for whom there is an occasion."""
        lookers, evidence, table = self._lookers, self._evidence, self._table
        evidence.changes = table.marks.changes
        if self.minds_order and step is not None:
            step.marks.late |= self._told_of(step)
        if evidence.changes:
            self._look(lookers.get(COMMIT, ()), step)
        if self._wire.served is not None:
            self._look(lookers.get(SERVED, ()), step)
        if self._wire.streams.delivered:
            self._look(lookers.get(DELIVERY, ()), step)
            self._wire.streams.delivered.clear()
        if len(table.records) > self._records_seen:
            self._records_seen = len(table.records)
            self._look(lookers.get(RECORD, ()), step)
        if len(table.deaths) > self._deaths_seen:
            self._deaths_seen = len(table.deaths)
            self._look(lookers.get(DEATH, ()), step)
        if TURN in lookers:
            self._look(lookers[TURN], step)

    def _told_of(self, step: Step) -> Footprint:
        """What the claims can tell of this turn, as keys of its footprint.

        A claim is looked at between two turns, and may be breached in one order of two that
        commute and not in the other. So all that changes what it reads keeps its order, by a key
        that each of these writes. One that does not say what it reads may read anything: at a
        commit or a record it is looked at, and the order of those matters; of what changes a Cache
        or a life it may see the outcome then, and so that comes before or after each of those.
        """
        did = step.did
        is_recorded = len(self._table.records) > self._records_seen
        reads: set[str] = set()
        writes: set[str] = set()
        for invariant in self._invariants:
            told = invariant.reads
            if told is None:
                is_looked_at = TURN in invariant.looks_at or step.marks.changes or is_recorded
                if is_looked_at:
                    writes.add(f"claim:{invariant.name}")
                    reads.add(SEEN)
                elif step.kind in (FAULT, START) or any(k.startswith(SHOWN) for k in did.writes):
                    writes.add(SEEN)
            elif (is_recorded and RECORDS in told) or Footprint(writes=did.writes).clashes(
                Footprint(reads=told)
            ):
                writes.add(f"claim:{invariant.name}")
        return Footprint(frozenset(reads), frozenset(writes))

    def come_to_rest(self) -> None:
        """Nothing can move any more: let each say its last word, before anything is torn down."""
        self._evidence.changes = ()
        for invariant in self._invariants:
            self._found(invariant, invariant.end(self._evidence))

    def suspicions(self) -> str:
        """What was suspected and not proved, in a sentence each."""
        said = [invariant.suspicion for invariant in self._invariants if invariant.suspicion]
        return "".join(f"; {text}" for text in said)

    def _look(self, invariants: Sequence[Invariant], step: Step | None) -> None:
        for invariant in invariants:
            self._found(invariant, invariant.look(step, self._evidence))

    def _found(self, invariant: Invariant, said: str | None) -> None:
        if said is None:
            return
        if not isinstance(said, str):
            raise ScenarioError(
                f"the claim {invariant.name} returned {said!r}: expected a sentence that says what "
                "is wrong, or None if nothing is."
            )
        if all(v.invariant != invariant.name for v in self.violations):
            now_ms, step = self._table.now_ms, self._table.step
            self.violations.append(Violation(invariant.name, said, step, now_ms))
