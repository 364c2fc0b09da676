"""continued: the choices of a Run up to a point, then those of another Chooser."""

from __future__ import annotations

from collections.abc import Sequence

from testbed.chooser import Chooser, Cut, Plan, RunInfo, fault_of
from testbed.turns.option import Choice, Release
from testbed.turns.pending import Alternatives, Options
from testbed.turns.trace import Step, Trace
from testbed.turns.verdict import Verdict


class Continued(Chooser):
    """Plays a prefix of choices again, then lets the other one go on.

    1. The prefix, choice by choice, with the faults that strike at rest. It must come from a Run of
       the same World.
    2. What the prefix has held back comes back, since the other Chooser would never release it.
    3. The other Chooser decides, and hears only of turns from there on. It is told when the Run
       begins and ends, so run i of it is a function of its seed and i as ever.
    """

    def __init__(self, prefix: Sequence[Choice], then: Chooser) -> None:
        self.prefix = tuple(prefix)
        self.then = then
        self._left = list(reversed(self.prefix))
        self._is_others = False

    def begin(self, run: RunInfo) -> Plan | None:
        self._left = list(reversed(self.prefix))
        self._is_others = False
        plan = self.then.begin(run)
        if plan is None:
            return None
        return Plan(f"{len(self.prefix)} choices, then {plan.title}")

    def choose(self, options: Options | Alternatives) -> Choice | Cut:
        if self._left:
            choice = self._left.pop()
            self.on_taken(choice, options)
            return choice
        if isinstance(options, Options) and options.held and not self._is_others:
            return Release(0)
        self._is_others = True
        return self.then.choose(options)

    def on_taken(self, choice: Choice, options: Options | Alternatives) -> None:
        """Called with each choice of the prefix before it is made: for a subclass that wants to
        know what happens."""

    def strike(self, options: Options) -> int | None:
        if not self._left:
            if options.held and not self._is_others:
                return None
            self._is_others = True
            return self.then.strike(options)
        fault = fault_of(self._left[-1], options)
        if fault is not None:
            self.choose(options)
        return fault

    def ended(self, step: Step) -> None:
        if self._is_others:
            self.then.ended(step)

    def end(self, trace: Trace, verdict: Verdict) -> None:
        self.then.end(trace, verdict)

    @property
    def note(self) -> str:
        """What the other Chooser says of its Run."""
        return self.then.note
