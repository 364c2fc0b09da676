"""calm: always the dullest Option. The textbook execution; every deviation is counted from it."""

from __future__ import annotations

from testbed.chooser import Chooser, Plan, RunInfo
from testbed.turns.pending import Alternatives, Options


class Calm(Chooser):
    """Chooses Option 0 at every turn."""

    def begin(self, run: RunInfo) -> Plan | None:
        return Plan("calm")

    def choose(self, options: Options | Alternatives) -> int:
        return 0
