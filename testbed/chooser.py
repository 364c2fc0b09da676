"""Chooser: what decides, at every turn, which of the Options happens."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final, final

import attrs

from testbed.code.quick import quick
from testbed.turns.option import Choice
from testbed.turns.pending import Alternatives, Options
from testbed.turns.shared import Both
from testbed.turns.trace import Step, Trace
from testbed.turns.verdict import Verdict


@final
class Cut:
    """Chosen instead of an index: the Run adds nothing, so it ends here, and is counted apart."""


CUT: Final = Cut()


@quick
@attrs.frozen
class RunInfo:
    """What a Chooser is told before a Run."""

    scenario: str
    number: int
    """Which Run of this session it is, from 0; run i is a function of (seed, i)."""
    faults_max: int
    """How many faults the scenario allows in one Run."""
    turns_expected: Callable[[], int]
    """The length of the calm run. It is played when this is first called, and only once."""
    is_up: Callable[[str], bool] = lambda _: True
    """Whether the actor, or the Endpoint, of this name runs at this moment."""
    delay_max_ms: int = 0
    """How late an Option may be performed. At 0, time passes only when nothing else can happen."""
    switches: Mapping[str, Any] = attrs.field(factory=dict)
    """The switches that the scenario was given, for the line that plays it again."""
    turns_max: int = 0
    """How many turns a Run may have; 0: as many as it takes."""
    instant_turns_max: int = 0
    """How many turns it may have before time passes; 0: as many as it takes."""
    shares: Callable[[], Both | None] = lambda: None
    """What two actors, or an actor and an Endpoint, hold together and can change, if it is seen."""


@quick
@attrs.frozen
class Plan:
    """What a Chooser means to do with one Run; the Verdict shows its title."""

    title: str


class Chooser:
    """Decides every Run of a session, one after another.

    The World calls `begin` before each Run (None says that the space is exhausted), `choose` at
    every turn and every pick, `ended` when a turn has ended and all it touched is known, and `end`
    once. A turn that was chosen always happens. A view of Options is valid only until `choose`
    returns. `choose` may raise: the Run ends, and `run` raises that error as it is.
    """

    minds_order: bool = False
    """Whether it leaves out Runs that differ only in the order of turns that commute. When a Run
    of it is over, `step.did` then also names the claims that could tell (`claim:<name>`)."""
    goes_on: bool = False
    """Whether its Runs go on after a Violation, even if the World is told to stop there."""

    def begin(self, run: RunInfo) -> Plan | None:
        """Another Run is about to begin. Returns what it is for, or None if no Run is left."""
        raise NotImplementedError

    def choose(self, options: Options | Alternatives) -> Choice | Cut:
        """Decide what happens next.

        - of Options, the index of one: 0 is the dullest, faults begin at `options.ready`;
        - of the alternatives of a pick, the index of one;
        - or a HoldBack, Release or LetPass, which is no turn; or CUT, which ends the Run.

        If nothing is ready, this Chooser holds something back and nothing else can move: it must
        release something, or let a fault strike.
        """
        raise NotImplementedError

    def strike(self, options: Options) -> int | None:
        """The index of a fault that strikes although the World is at rest, or has nothing left to
        do before its `virtual_ms_max`; the Run goes on from there. None, as is usual, lets it
        end."""
        return None

    def acts_ms(self, now_ms: int) -> int | None:
        """The next virtual time after this at which it would do something though no Option is due
        then, such as let a fault strike; None if there is none. Only a Run with real programs asks:
        there time passes also while nothing is to come."""
        return None

    def ended(self, step: Step) -> None:
        """A turn, or a pick, is over; `step.did` is its exact footprint."""

    def end(self, trace: Trace, verdict: Verdict) -> None:
        """The Run is over."""

    @property
    def note(self) -> str:
        """What the Verdict says of how this Run was chosen; mostly nothing."""
        return ""


def fault_of(choice: Choice, options: Options) -> int | None:
    """That choice if it lets a fault strike, else None. A Chooser that plays choices again answers
    `strike` with it: nothing but a fault goes on from where a Run rests."""
    return choice if isinstance(choice, int) and choice >= options.ready else None


class Exhaustive(Chooser):
    """Plays Runs until it has seen all there is to see, and shows what that was."""

    @property
    def summary(self) -> str:
        """What can be claimed by now, in one line."""
        raise NotImplementedError

    def certificate(self, path: str | Path, terms: Mapping[str, Any]) -> None:
        """Write what it has seen, so that it can be checked; refused before it has seen all. The
        terms say what was searched, see `search/terms.py`."""
        raise NotImplementedError
