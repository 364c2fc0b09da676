"""Calmly played Runs with a fault, or an exception, at one turn of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from testbed.chooser import Chooser, Plan, RunInfo
from testbed.choosers.struck import Struck
from testbed.turns.pending import Alternatives, Options


def at_every_turn(
    fault: str, play: Callable[[Struck], None], *, stride: int = 1
) -> Iterator[Struck]:
    """Play with that fault at the first turn, at the second, … until a Run ends before it; or only
    at one turn of so many."""
    turn = 1
    while True:
        chooser = Struck(turn, fault)
        play(chooser)
        if not chooser.was_reached:
            return
        yield chooser
        turn += stride


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
