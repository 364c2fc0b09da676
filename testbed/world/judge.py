"""Judge: lets the invariants look at each turn that concerns them, and keeps what they find."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from copy import copy
from functools import partial
from typing import TypeVar, cast

from testbed.client.point import ServedSoFar
from testbed.client.wire import Wire
from testbed.errors import ScenarioError, shown
from testbed.invariant import (
    COMMIT,
    DEATH,
    DEATHS,
    DELIVERY,
    RECORD,
    RECORDS,
    SERVED,
    TURN,
    Evidence,
    FunctionClaim,
    Invariant,
)
from testbed.invariants.confluence import Confluent
from testbed.store.footprint import HISTORY, LOG, Footprint
from testbed.store.store import Store
from testbed.turns.found import About, ByWords, Found, Wrong, check_found
from testbed.turns.table import Table
from testbed.turns.trace import Step
from testbed.turns.verdict import Violation
from testbed.world.audited_evidence import asked, shown_less
from testbed.world.seen_store import SeenStore
from testbed.world.tried.subject import Subject

LISTS = {RECORDS: RECORD, DEATHS: DEATH}
"""The occasions at which something is added to the lists that a claim may read."""
SEEN = "log:@seen"
"""The log of turns whose outcome a claim may see, at a later turn than the one that made it."""

Kind = TypeVar("Kind", bound=Invariant)


class Judge:
    """All that is claimed of one Run, and the Violations so far, at most one for each claim."""

    def __init__(self, table: Table, wire: Wire, evidence: Evidence) -> None:
        self.violations: list[Violation] = []
        self.is_for_ever = False
        """Whether one of them ends the Run, also for who goes on after a Violation."""
        self._table = table
        self._wire = wire
        self._evidence = evidence
        if table.audits:
            evidence.ask = lambda claim, look: shown_less(claim, evidence, look)
        self.own: list[Invariant] = []
        """The claims that the scenario makes, beside those that every World has."""
        self._invariants: list[Invariant] = []
        self._lookers: dict[str, list[Invariant]] = {}
        self._looked: set[str] | None = None
        self._noted: list[Invariant] = []
        self._records_seen = 0
        self._deaths_seen = 0
        self.minds_order = False
        """Whether the Chooser leaves out Runs that differ only in the order of commuting turns.
        Then each Step must also say which orders the claims can tell apart."""

    def claimed(self, kind: type[Kind]) -> list[Kind]:
        """The claims of one kind."""
        return [claim for claim in self._invariants if isinstance(claim, kind)]

    @property
    def follows(self) -> bool:
        """Whether some claim wants to know all that has happened."""
        return any(claim.follows for claim in self._invariants)

    @property
    def claims(self) -> list[str]:
        """The names of the claims, in the order in which they were made."""
        return [invariant.name for invariant in self._invariants]

    @property
    def with_deadline(self) -> list[str]:
        """The names of the claims that must come true within some time."""
        return [each.name for each in self._invariants if each.within_ms is not None]

    def claim(self, *invariants: Invariant) -> None:
        """Add invariants to judge by."""
        for invariant in invariants:
            if not isinstance(invariant, Invariant):
                raise ScenarioError(
                    f"world.claim was given {shown(invariant)}: expected a claim that says when it "
                    "holds.\nNext: world.claim(always(f)), quiescent(f) or eventually(f)."
                )
            self._invariants.append(invariant)
            if self._looked is not None:
                self._noted.append(invariant)
            for occasion in invariant.looks_at:
                self._lookers.setdefault(occasion, []).append(invariant)

    def claim_own(self, *invariants: Invariant) -> None:
        """Add those that the scenario makes, and note whether there was anything to judge."""
        self.claim(*invariants)
        self.own += invariants
        for invariant in invariants:
            if isinstance(invariant, FunctionClaim):
                invariant.subject = Subject()

    def claim_only(self, invariant: Invariant) -> None:
        """Judge by nothing else, whatever was claimed before."""
        self._invariants, self._noted = [], []
        self._lookers = {}
        self.claim(invariant)

    def count(self, served: ServedSoFar) -> None:
        """Count there what is served from now on. It is no claim, so no order matters to it."""
        self._lookers.setdefault(SERVED, []).append(_Counting(served))

    @property
    def was_compared(self) -> bool:
        """Whether `confluent` has compared the Run with another one."""
        return any(claim.was_compared for claim in self.claimed(Confluent))

    @property
    def not_compared(self) -> str:
        """Why `confluent` has compared the Run with nothing; empty if it has, or is not claimed."""
        return next((c.not_compared for c in self.claimed(Confluent) if c.not_compared), "")

    @property
    def allowed(self) -> list[str]:
        """Words for what claims have seen of the Run and allow, each once."""
        return list(dict.fromkeys(each.allowed for each in self._invariants if each.allowed))

    def note_looks(self, looked: set[str]) -> None:
        """Note there the keys at which the claims look, one by one, that are made from now on."""
        self._looked = looked

    def has_cause(self) -> bool:
        """Whether an invariant looks at this turn although it has no commit and no delivery."""
        table = self._table
        return (
            len(table.records) > self._records_seen
            or len(table.deaths) > self._deaths_seen
            or TURN in self._lookers
            or (SERVED in self._lookers and self._wire.served is not None)
            or self.minds_order
        )

    def turn_ended(self, step: Step | None) -> None:
        """Let each invariant look whose occasion was part of this turn."""
        lookers, evidence, table, wire = self._lookers, self._evidence, self._table, self._wire
        evidence.changes = changes = table.marks.changes
        if self.minds_order and step is not None:
            step.marks.late |= self._seen_by_claims(step)
        if changes:
            self._look(lookers.get(COMMIT, ()), step)
        if wire.served is not None and SERVED in lookers:
            self._look(lookers[SERVED], step)
        if delivered := wire.streams.delivered:
            self._look(lookers.get(DELIVERY, ()), step)
            delivered.clear()
        if len(table.records) > self._records_seen:
            self._records_seen = len(table.records)
            self._look(lookers.get(RECORD, ()), step)
        if len(table.deaths) > self._deaths_seen:
            self._deaths_seen = len(table.deaths)
            self._look(lookers.get(DEATH, ()), step)
        if TURN in lookers:
            self._look(lookers[TURN], step)

    def _seen_by_claims(self, step: Step) -> Footprint:
        """What the claims can see of this turn, as keys of its footprint.

        A claim looks between two turns. Two turns that commute may still breach it in one order
        and hold it in the other. So all turns that change what it reads write one key,
        `claim:<name>`, and keep their order. If it does not look at each of them, then what it sees
        when it looks depends on how many came before, and that turn reads the key.

        A claim that does not declare what it reads may read anything. So the turns at which it
        looks keep their order, and so do those that add to a list that it may see: of commits, of
        Records, of deaths. Whatever else a turn changes, the claim sees at its next look. So every
        other turn adds to the log SEEN, and the turn at which the claim looks reads that log. Those
        that add to such a list read it even if the claim looks at the end alone.
        """
        did, occasions = step.did, self._occasions(step)
        is_listed = not occasions.isdisjoint((COMMIT, RECORD, DEATH))
        lists = {name for name, occasion in LISTS.items() if occasion in occasions}
        reads: set[str] = set()
        writes: set[str] = set()
        for invariant in self._invariants:
            declared = invariant.reads
            if declared is None:
                if is_listed or occasions & invariant.looks_at:
                    writes.add(f"claim:{invariant.name}")
                    reads.add(SEEN)
                else:  # so also the number of the Step in which something was recorded is kept
                    writes.add(SEEN)
                    if HISTORY in did.reads:  # it was told how far all commits have come
                        reads.add(f"claim:{invariant.name}")
            elif lists & declared or Footprint(writes=did.writes).clashes(
                Footprint(reads=declared)
            ):
                writes.add(f"claim:{invariant.name}")
            elif occasions & invariant.looks_at and not _looks_at_each(invariant, declared):
                reads.add(f"claim:{invariant.name}")
        return Footprint(frozenset(reads), frozenset(writes))

    def _occasions(self, step: Step) -> set[str]:
        """The occasions to look that this turn gives."""
        table, wire = self._table, self._wire
        given = {
            TURN: True,
            COMMIT: step.marks.changes,
            SERVED: wire.served is not None,
            DELIVERY: wire.streams.delivered,
            RECORD: len(table.records) > self._records_seen,
            DEATH: len(table.deaths) > self._deaths_seen,
        }
        return {occasion for occasion, is_given in given.items() if is_given}

    def come_to_rest(self) -> None:
        """Let each invariant judge the end of a Run at rest, before the teardown."""
        self._evidence.changes = ()
        shows_all, audits = self._looked is None, self._table.audits
        for invariant in self._invariants:
            evidence = self._evidence if shows_all else self._shown_to(invariant)
            if audits:
                breach = asked(invariant, evidence, invariant.end, at_end=True)
            else:
                breach = invariant.end(evidence)
            if breach is not None:
                self._found(invariant, breach)

    def come_to_instant_limit(self) -> bool:
        """Let each invariant say whether the turns of this instant would go on for ever; returns
        whether one does."""
        for invariant in self._invariants:
            breach = invariant.at_instant_limit(self._evidence)
            if breach is not None:
                self._found(invariant, breach)
        return self.is_for_ever

    def suspicions(self) -> str:
        """What invariants suspect and have not proved, each after a semicolon."""
        texts = [invariant.suspicion for invariant in self._invariants if invariant.suspicion]
        return "".join(f"; {text}" for text in texts)

    @property
    def notes(self) -> list[str]:
        """What invariants could not judge, a sentence each."""
        return list(dict.fromkeys([note for each in self._invariants if (note := each.note)]))

    def _look(self, invariants: Sequence[Invariant], step: Step | None) -> None:
        shows_all = self._looked is None and not self._table.audits
        for invariant in invariants:
            if shows_all:
                breach = invariant.look(step, self._evidence)
            elif self._table.audits:
                look, shown = partial(invariant.look, step), self._shown_to(invariant)
                breach = asked(invariant, shown, look, at_end=False)
            else:
                breach = invariant.look(step, self._shown_to(invariant))
            if breach is not None:
                self._found(invariant, breach)

    def _shown_to(self, invariant: Invariant) -> Evidence:
        """What that claim looks at: if its looks are noted, through a Store that notes them."""
        # By identity, since two claims may be equal.
        if self._looked is None or not any(invariant is each for each in self._noted):
            return self._evidence
        shown = copy(self._evidence)
        shown.store = cast(Store, SeenStore(self._evidence.store, self._looked.add))
        return shown

    def _found(self, invariant: Invariant, breach: str | Found) -> None:
        found = _checked(invariant, breach)
        if all(v.invariant != invariant.name for v in self.violations):
            self.violations.append(self._violation(invariant, found))
            self.is_for_ever |= invariant.ends_run

    def _violation(self, invariant: Invariant, found: Found) -> Violation:
        """What that claim has found, now."""
        evidence, fields = self._evidence, invariant.breach_fields
        upto = evidence.store.revision
        about: About | ByWords
        if found.about is None:
            about = ByWords(lambda: evidence.named_in(found.text, upto).of(fields))
        else:
            about = found.about.of(fields)
        reason = found.reason or invariant.breach_reason
        return Violation(
            invariant.name, found.text, self._table.step, self._table.now_ms,
            reason, found.since, found.alike_by, about,
        )  # fmt: skip


def _checked(invariant: Invariant, breach: object) -> Found:
    """What a claim has found; ScenarioError says where the claim stands that returned none."""
    said = ""
    if isinstance(breach, str):
        return Found(breach)
    if isinstance(breach, Found):
        try:
            check_found(breach)
        except ScenarioError as wrong:
            next_ = 'Next: let it `return Found.of("what is wrong", pod)`.'
            said = f"a Found with {wrong}.\n{next_}"
        else:
            return breach
    code = getattr(getattr(invariant, "claim", None), "__code__", None)
    place = f"{code.co_filename}, line {code.co_firstlineno}: " if code else ""
    said = said or (
        f"{shown(breach)}: expected a sentence that says what is wrong, or None if nothing is; a "
        'Found says more.\nNext: let it `return "what is wrong"`, or nothing.'
    )
    raise ScenarioError(f"{place}the claim {invariant.name} returned {said}")


class _Counting(Invariant):
    """Counts what is served, and finds nothing."""

    def __init__(self, served: ServedSoFar) -> None:
        self._served = served

    def look(self, step: Step | None, evidence: Evidence) -> Wrong:
        if evidence.served is not None:
            self._served.add(evidence.served, evidence.table.marks)
        return None


def _looks_at_each(invariant: Invariant, reads: Iterable[str]) -> bool:
    """Whether it looks at each turn that changes what it reads. A look at another turn then sees
    what it has seen before."""
    changed = {
        LISTS.get(key, COMMIT if key.startswith(LOG) or ":" not in key else TURN) for key in reads
    }
    return TURN in invariant.looks_at or changed <= invariant.looks_at
