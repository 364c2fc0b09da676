"""Choosers that strike: calmly played Runs with a fault, or an exception, at one turn of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fnmatch import fnmatchcase

from testbed.chooser import Chooser, Plan, RunInfo
from testbed.option import PICK
from testbed.pending import Alternatives, Options


class Strike(Chooser):
    """Calm, but at one turn a fault: the first whose word and target fit, as `crash alpha` does."""

    def __init__(self, turn: int, fault: str = "*") -> None:
        self.turn = turn
        self.fault = fault
        self.has_struck = False
        self.was_reached = False
        """Whether the Run went on for so long."""
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
            for index, fault in enumerate(options.faults):
                if fnmatchcase(f"{fault.verb} {fault.key}", self.fault):
                    self.has_struck = True
                    return options.ready + index
        return 0


def at_every_turn(fault: str, play: Callable[[Strike], None]) -> Iterator[Strike]:
    """Play with that fault at the first turn, at the second, … until a Run ends before it."""
    turn = 1
    while True:
        chooser = Strike(turn, fault)
        play(chooser)
        if not chooser.was_reached:
            return
        yield chooser
        turn += 1


class Raises(Chooser):
    """Calm until it is asked so often; then it raises. It notes what it was asked."""

    def __init__(self, after: int, error: BaseException) -> None:
        self.after = after
        self.error = error
        self.asked = 0

    def begin(self, run: RunInfo) -> Plan | None:
        return Plan("raises")

    def choose(self, options: Options | Alternatives) -> int:
        self.asked += 1
        if self.asked > self.after:
            raise self.error
        return 0
