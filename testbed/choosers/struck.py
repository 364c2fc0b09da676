"""struck: calm, except for one fault at one turn. A sweep plays it for every turn there is."""

from __future__ import annotations

from testbed.chooser import Chooser, Plan, RunInfo
from testbed.turns.option import PICK
from testbed.turns.pending import Alternatives, Options


class Struck(Chooser):
    """Lets one fault strike instead of the calm turn of a given number, and is calm otherwise."""

    def __init__(self, turn: int, fault: str) -> None:
        self.turn = turn
        """From 1, counting no pick."""
        self.fault = fault
        """Its word and its target, as in `crash alpha`."""
        self.has_struck = False
        self.was_reached = False
        """Whether the Run had as many turns. A caller that tries turn after turn ends when not."""
        self._turns = 0

    def begin(self, run: RunInfo) -> Plan | None:
        self._turns = 0
        self.has_struck = self.was_reached = False
        return Plan(f"{self.fault} at turn {self.turn}")

    def choose(self, options: Options | Alternatives) -> int:
        if options[0].kind == PICK:
            return 0
        self._turns += 1
        if self._turns == self.turn:
            self.was_reached = True
            # A scenario may allow a fault of the same word and target, with other settings. A
            # sweep allows its own one after the scenario's, so the last of them is meant.
            for index, fault in reversed(list(enumerate(options.faults, options.ready))):
                if f"{fault.verb} {fault.key}" == self.fault:
                    self.has_struck = True
                    return index
        return 0
