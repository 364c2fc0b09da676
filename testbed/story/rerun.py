"""Rerun: a Run that is played again up to a Step, and from there on otherwise."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from typing import Any, ClassVar

from testbed.chooser import CUT, Chooser, Cut, Plan, RunInfo, fault_of
from testbed.turns.happening import Key, key_of
from testbed.turns.option import Choice, Option, Release
from testbed.turns.pending import Alternatives, Options
from testbed.turns.trace import Trace
from testbed.turns.verdict import Verdict

TURNS_MAX = 2000
"""How many turns are played after the Run has been left, mostly."""
NEVER = 10**9
"""Stands for the Step of what never came in the Run that is told."""


class Rerun(Chooser):
    """Chooses as in the Run that is told, up to a Step; `otherwise` chooses from there on."""

    name: ClassVar[str]
    """What it is played for."""
    turns_max: ClassVar[int] = TURNS_MAX

    def __init__(self, trace: Trace, fork: int, until: int) -> None:
        self.fork = fork
        """The first Step that is played otherwise."""
        self._before = list(reversed(trace.choices[: fork - 1]))
        self._left = self.turns_max
        self._order: dict[Key, int] = {}
        for step in trace.steps[fork - 1 : until]:
            self._order.setdefault(key_of(step.option), step.number)
        self.has_left = False
        """Whether the Run has been left."""

    @abstractmethod
    def otherwise(self, options: Options) -> Choice | Cut:
        """The next turn after the Run was left; `choose` calls it, at most `turns_max` times."""

    def play(self, make: Callable[[], Any]) -> tuple[Verdict, Trace] | None:
        """The Verdict and the Trace of this Run in a World of its own, which `make` assembles; None
        if it stumbled."""
        again = Trace({}, keep=True)
        try:
            return make().run(self, driver="direct", trace=again), again
        except Exception:  # noqa: BLE001 - it is not the Run that is told
            # A claim or an Endpoint of the scenario may stumble over what never came up in the Run
            # that is told; that is no news of that Run.
            return None

    def breaks(self, make: Callable[[], Any], claim: str) -> bool | None:
        """Whether that claim breaks; None if that is not known, since the Run came to no end or
        another claim ended it."""
        played = self.play(make)
        if played is None:
            return None
        verdict, _ = played
        is_broken = any(violation.invariant == claim for violation in verdict.violations)
        return is_broken or (False if verdict.among_others == "held" else None)

    @property
    def is_replaying(self) -> bool:
        """Whether it still chooses as in the Run."""
        return bool(self._before)

    def begin(self, run: RunInfo) -> Plan | None:
        return Plan(self.name)

    def choose(self, options: Options | Alternatives) -> Choice | Cut:
        if self._before:
            return self._before.pop()
        self.has_left = True
        if isinstance(options, Alternatives):
            return 0
        self._left -= 1
        return CUT if self._left < 0 else self.otherwise(options)

    def strike(self, options: Options) -> int | None:
        fault = fault_of(self._before[-1], options) if self._before else None
        if fault is not None:
            self._before.pop()
        return fault

    def place(self, option: Option) -> int:
        """The Step at which this came in the Run that is told; a large number if it never did."""
        return self._order.get(key_of(option), NEVER)


def calm(options: Options) -> Choice | Cut:
    """What comes next in calm order; what is held back comes first."""
    if options.held:
        return Release(0)
    return 0 if options.ready else CUT
