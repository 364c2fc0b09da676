"""Chooser: who decides, at every turn, which of the Options happens."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Final, final

import attrs

from testbed.invariant import Verdict
from testbed.turns.option import Choice
from testbed.turns.pending import Alternatives, Options
from testbed.turns.trace import Step, Trace


@final
class Cut:
    """Chosen instead of an index: this Run adds nothing; end it, and count it apart."""


CUT: Final = Cut()


@attrs.frozen
class RunInfo:
    """What a Chooser is told before a Run."""

    scenario: str
    number: int
    """Which Run of this session it is, from 0; run i is a function of (seed, i)."""
    faults_max: int
    """How many faults the scenario allows in one Run."""
    turns_expected: Callable[[], int]
    """The length of the calm run; played once, the first time somebody asks."""
    is_up: Callable[[str], bool] = lambda _: True
    """Whether the actor, or the Endpoint, of that name runs just now."""
    delay_max_ms: int = 0
    """How late an Option may be; only at 0 does time pass at rest alone."""


@attrs.frozen
class Plan:
    """What a Chooser means to do with one Run; its title is told with the Verdict."""

    title: str


class Chooser:
    """Decides every Run of a session, one after another.

    The World calls `begin` before each Run (None says that the space is exhausted), `choose` at
    every turn and every pick, `ended` when a turn has ended and all it touched is known, and `end`
    once. A turn that was chosen always happens; a view of Options is valid only until `choose`
    returns. `choose` may raise: the Run ends, and the error leaves `run` bare.
    """

    minds_order: bool = False
    """Whether it leaves out Runs that differ from others in the order of what commutes: then
    `step.did`, when the Run is over, also has what the claims can tell (`claim:<name>`)."""
    goes_on: bool = False
    """Whether its Runs go on after a Violation, whatever the World says."""

    def begin(self, run: RunInfo) -> Plan | None:
        """Another Run is about to begin; what it is for, or None if there is none left."""
        raise NotImplementedError

    def choose(self, options: Options | Alternatives) -> Choice | Cut:
        """The index of what happens next: 0 is the dullest; from `options.ready` on are faults.
        Of the alternatives of a pick, the index of one, or CUT. Nothing is ready only while this
        Chooser holds something back and nothing else can move: then it releases something, or a
        fault strikes."""
        raise NotImplementedError

    def strike(self, options: Options) -> int | None:
        """The index of a fault that strikes although the World is at rest, which goes on from
        there; None, as is usual, lets the Run end."""
        return None

    def ended(self, step: Step) -> None:
        """A turn, or a pick, is over; `step.did` is its exact footprint."""

    def end(self, trace: Trace, verdict: Verdict) -> None:
        """The Run is over."""

    @property
    def note(self) -> str:
        """What the Verdict should say of how this Run was chosen; mostly nothing."""
        return ""


class Exhaustive(Chooser):
    """Plays Runs until it has seen all there is to see, and shows what that was."""

    @property
    def summary(self) -> str:
        """What may be claimed by now, in a line."""
        raise NotImplementedError

    def certificate(self, path: str | Path) -> None:
        """Write what it has seen, for anybody to check; refused before it has seen all."""
        raise NotImplementedError
