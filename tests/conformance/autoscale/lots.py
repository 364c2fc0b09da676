"""Lots: a calm Run in which everything that the real program leaves to chance is drawn."""

from __future__ import annotations

from random import Random

from testbed import Chooser, Plan
from testbed.chooser import RunInfo
from testbed.turns.pending import Alternatives, Options


class Lots(Chooser):
    """Calm, but for picks: it draws those by its seed. With seed 0 it is calm in these, too."""

    def __init__(self, seed: int = 0) -> None:
        self._random = Random(seed) if seed else None

    def begin(self, run: RunInfo) -> Plan | None:
        """Any number of Runs."""
        return Plan("lots")

    def choose(self, options: Options | Alternatives) -> int:
        """The dullest Option; of alternatives, one of them."""
        if self._random is None or isinstance(options, Options):
            return 0
        return self._random.getrandbits(32) % len(options)
