"""uniform: every ready Option with equal chances, from a seed; faults rarely, and drawn apart.

1. The number of faults of this Run is drawn first, from 0 to what the scenario allows.
2. Then their turns are drawn, over the expected length of the Run.
3. At each of these turns any fault that could strike is drawn; at the others, any ready Option.
"""

from __future__ import annotations

from testbed.chooser import Chooser, Plan, RunInfo
from testbed.choosers.sampling.chance import Chance
from testbed.turns.pending import Alternatives, Options


class Uniform(Chooser):
    """A random walk. Run i of a seed is always the same Run."""

    def __init__(self, seed: int = 0) -> None:
        self.seed = seed
        self._chance = Chance(seed, 0)
        self._bits = self._chance.bits
        self._turn = 0
        self._strikes: list[int] = []

    def begin(self, run: RunInfo) -> Plan | None:
        self._chance = Chance(self.seed, run.number)
        self._bits = self._chance.bits
        self._turn = 0
        length = run.turns_expected() if run.faults_max else 0
        self._strikes = self._chance.strikes(run, length)
        return Plan(f"uniform, seed {self.seed}, run {run.number}")

    def choose(self, options: Options | Alternatives) -> int:
        if not isinstance(options, Options):
            return self._chance.pick(options)
        self._turn += 1
        if self._strikes and self._turn > self._strikes[0] and options.faults:
            self._strikes.pop(0)
            return self._chance.fault(options)
        ready = options.ready
        # As `Chance.below`, written out: this is done in each turn.
        return (self._bits(32) * ready) >> 32 if ready > 1 else 0
