"""Judge: lets every Invariant look when it has an occasion to, and keeps what they found."""

from __future__ import annotations

from collections.abc import Sequence

from testbed.errors import ScenarioError
from testbed.invariant import (
    COMMIT,
    DEATH,
    DELIVERY,
    RECORD,
    TURN,
    Evidence,
    Invariant,
    Violation,
)
from testbed.trace import Step
from testbed.turns import Table
from testbed.wire import Wire


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
        )

    def turn_ended(self, step: Step | None) -> None:
        """Let those look for whom there is an occasion."""
        lookers, evidence, table = self._lookers, self._evidence, self._table
        evidence.changes = table.marks.changes
        if evidence.changes:
            self._look(lookers.get(COMMIT, ()), step)
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

    def come_to_rest(self) -> None:
        """Nothing can move any more: let each say its last word, before anything is torn down."""
        self._evidence.changes = ()
        for invariant in self._invariants:
            self._found(invariant, invariant.end(self._evidence))

    def _look(self, invariants: Sequence[Invariant], step: Step | None) -> None:
        for invariant in invariants:
            self._found(invariant, invariant.look(step, self._evidence))

    def _found(self, invariant: Invariant, said: str | None) -> None:
        if not isinstance(said, str | None):
            raise ScenarioError(
                f"the claim {invariant.name} returned {said!r}: expected a sentence that says what "
                "is wrong, or None if nothing is."
            )
        if said is not None and all(v.invariant != invariant.name for v in self.violations):
            now_ms, step = self._table.now_ms, self._table.step
            self.violations.append(Violation(invariant.name, said, step, now_ms))
