"""Invariant: a named claim. Violation: one breach of it, a value. Verdict: what a Run has shown."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, ClassVar

import attrs

from testbed.client.request import Request
from testbed.client.wire import Wire
from testbed.store.change import Change
from testbed.store.store import Store
from testbed.turns.life import Death, Role
from testbed.turns.option import Choice
from testbed.turns.table import Table
from testbed.turns.trace import Record, Step
from testbed.words import counted

COMMIT, RECORD, DELIVERY, DEATH, TURN = "commit", "record", "delivery", "death", "turn"
SERVED = "served"
"""The occasions at which an Invariant may look; it pays for those it names, and no others."""


RECORDS = "records"
"""What actors have recorded, among what an Invariant reads."""
PlayLap = Callable[[Sequence[Choice], Sequence[Choice]], str | None]
"""Given the choices up to a lap and those of the lap, what `no_lasso` then says."""


class Evidence:
    """What an Invariant may look at: everything, and touch nothing."""

    def __init__(self, table: Table, wire: Wire, store: Store) -> None:
        self._table = table
        self.wire = wire
        self.store = store
        """Read it with `peek`, `snapshot` and `log`, which leave no mark."""
        self.changes: Sequence[Change] = ()
        """The commits of the turn that has just ended."""
        self.stuck: tuple[str, ...] = ()
        """At the end of a Run that got stuck: who waits for what."""
        self.choices: Sequence[Choice] = ()
        """All that the Chooser has chosen so far."""
        self.play_lap: PlayLap | None = None
        """Plays choices in a World of their own and then a lap of them, again and again; None if
        this one was not, or not only, assembled by its scenario."""
        self.laps_from = 0
        """After how many choices a lap may begin, if somebody knows."""
        self.calm_end: Callable[[], Any] | None = None
        """What the calm run of this scenario has come to; None in that run itself, and in a World
        that does not know its scenario."""

    def forget_scenario(self) -> None:
        """The World is no longer what its scenario alone has made of it, so no other one is like
        it: called when something is added to it."""
        self.play_lap = self.calm_end = None

    @property
    def now_ms(self) -> int:
        """Virtual time."""
        return self._table.now_ms

    @property
    def served(self) -> Request | None:
        """The request whose Endpoint moved in the turn that has just ended: whose commits those of
        the turn are, and, if it `is_served`, whose answer is known; None if there was none."""
        return self.wire.served

    @property
    def table(self) -> Table:
        """What waits, and what may happen next."""
        return self._table

    @property
    def last_fault_ms(self) -> int:
        """When the last fault was over; what is claimed to happen in time counts from there."""
        return self._table.last_fault_ms

    @property
    def records(self) -> list[Record]:
        """All that actors have recorded so far, oldest first."""
        return self._table.records

    @property
    def deaths(self) -> list[Death]:
        """The lives that ended by an exception so far."""
        return self._table.deaths

    @property
    def actors(self) -> list[Role]:
        """The actors, by name, whether they run or not."""
        return [role for _, role in sorted(self._table.roles.items())]


@attrs.frozen
class Violation:
    """One breach of one claim."""

    invariant: str
    said: str
    """What was found, in a sentence."""
    step: int
    """The turn after which it was found."""
    now_ms: int

    def __str__(self) -> str:
        return f"{self.invariant}: {self.said} (step {self.step}, {self.now_ms} ms)"


class Invariant:
    """A named claim about one Run; made anew for each World, so it may remember what it saw.

    The World calls `look` after each turn with an occasion the claim names, and `end` once, at
    quiescence, before anything is torn down. Each returns what was found, or None.
    """

    name: str = ""
    looks_at: ClassVar[frozenset[str]] = frozenset()
    reads: frozenset[str] | None = None
    """The keys and logs (`log:pods.spec`), and `records`, between whose changes it may find a
    breach; None: whatever there is. A search that leaves out orders keeps the order of these."""

    def look(self, step: Step | None, evidence: Evidence) -> str | None:
        """A turn with one of the occasions has just ended."""

    def end(self, evidence: Evidence) -> str | None:
        """The Run has come to rest."""

    @property
    def suspicion(self) -> str:
        """What it could not prove; told if the Run ends undecided."""
        return ""


Claim = Callable[[Evidence], str | None]
"""What a scenario writes: a function that says what is wrong, or returns None."""


class _Always(Invariant):
    looks_at = frozenset({COMMIT, RECORD})

    def __init__(self, claim: Claim, reads: frozenset[str] | None) -> None:
        self.name = claim.__name__
        self.claim = claim
        self.reads = reads

    def look(self, step: Step | None, evidence: Evidence) -> str | None:
        return self.claim(evidence)

    def end(self, evidence: Evidence) -> str | None:
        return self.claim(evidence)


class _Quiescent(Invariant):
    def __init__(self, claim: Claim, reads: frozenset[str]) -> None:
        self.name = claim.__name__
        self.claim = claim
        self.reads = reads

    def end(self, evidence: Evidence) -> str | None:
        return self.claim(evidence)


class _Eventually(Invariant):
    looks_at = frozenset({TURN})

    def __init__(self, claim: Claim, within_ms: int | None) -> None:
        self.name = claim.__name__
        self.claim = claim
        self.within_ms = within_ms
        self._met_after_ms: int | None = None
        """The fault after which it has come true; None as long as it has not."""
        self._holds = False

    def look(self, step: Step | None, evidence: Evidence) -> str | None:
        since = evidence.last_fault_ms
        if self.within_ms is None and self._met_after_ms == since:
            return None
        said = self.claim(evidence)
        held, self._holds = self._holds, said is None
        if self._met_after_ms == since:
            return None
        late = self.within_ms is not None and evidence.now_ms > since + self.within_ms
        # What held at the look before, and holds now, held when the fault was over.
        if said is None and (held or not late):
            self._met_after_ms = since
        elif late:
            return f"{said or 'it came true too late'}, {self.within_ms} ms after the last fault"
        return None

    def end(self, evidence: Evidence) -> str | None:
        return None if self._met_after_ms == evidence.last_fault_ms else self.claim(evidence)


def always(claim: Claim, *, reads: tuple[str, ...] | None = None) -> Invariant:
    """It holds after every commit and every record, and at the end. If it says what it `reads`, a
    complete search need not keep the order of anything else for it."""
    return _Always(claim, None if reads is None else frozenset(reads))


def quiescent(claim: Claim, *, reads: tuple[str, ...] = (RECORDS,)) -> Invariant:
    """It holds whenever nothing can move any more. It `reads` in which order the actors recorded,
    unless it says that this is nothing to it: `reads=()`."""
    return _Quiescent(claim, frozenset(reads))


def eventually(claim: Claim, *, within_ms: int | None = None) -> Invariant:
    """It comes true at some time after the last fault, within that much virtual time if said."""
    return _Eventually(claim, within_ms)


@attrs.frozen
class Verdict:
    """What one Run has shown, and how far it looked. A bounded pass is never called a proof."""

    outcome: str
    """held, violated or undecided."""
    end: str
    """Why the Run ended: quiet, stuck, violated, cut, a limit, interrupted."""
    violations: tuple[Violation, ...]
    turns: int
    virtual_ms: int
    faults: int
    """How many struck."""
    chooser: str
    note: str = ""
    """What the Chooser has to add: that it stopped drawing, say."""

    @property
    def is_held(self) -> bool:
        """Nothing that was claimed was breached, and the Run came to its end."""
        return self.outcome == "held"

    @property
    def is_violated(self) -> bool:
        """At least one claim was breached."""
        return self.outcome == "violated"

    def __str__(self) -> str:
        looked = (
            f"1 run ({self.chooser}), {counted(self.turns, 'turn')}, "
            f"{self.virtual_ms} ms virtual time, {counted(self.faults, 'fault')}"
        )
        if self.is_violated:
            said = f"Violated: {'; '.join(str(violation) for violation in self.violations)}"
        elif self.is_held:
            said = "Held"
        else:
            said = f"Undecided: {self.end}"
        return f"{said}. Looked at: {looked}." + (f" {self.note}" if self.note else "")
