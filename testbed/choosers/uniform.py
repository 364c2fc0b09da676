"""uniform: every ready Option alike, from a seed; faults rarely and apart.

1. How many faults this Run will see is drawn first, 0 to what the scenario allows.
2. Then at which turns, over the expected length of the Run.
3. At each turn, any ready Option; at those places, any fault that could strike.
"""

from __future__ import annotations

from testbed.chooser import Chooser, Plan, RunInfo
from testbed.choosers.sampling.chance import Chance
from testbed.turns.pending import Alternatives, Options


class Uniform(Chooser):
    """A random walk. Run i of a seed is always the same one."""

    def __init__(self, seed: int = 0) -> None:
        self.seed = seed
        self._chance = Chance(seed, 0)
        self._turn = 0
        self._strikes: list[int] = []

    def begin(self, run: RunInfo) -> Plan | None:
        self._chance = Chance(self.seed, run.number)
        self._turn = 0
        length = run.turns_expected() if run.faults_max else 0
        self._strikes = self._chance.strikes(run, length)
        return Plan(f"uniform, seed {self.seed}, run {run.number}")

    def choose(self, options: Options | Alternatives) -> int:
        if isinstance(options, Alternatives):
            return self._chance.pick(options)
        self._turn += 1
        if self._strikes and self._turn > self._strikes[0] and options.faults:
            self._strikes.pop(0)
            return self._chance.fault(options)
        ready = options.ready
        return self._chance.below(ready) if ready > 1 else 0
