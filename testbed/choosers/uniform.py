"""uniform: every ready Option alike, from a seed; faults rarely and apart.

1. How many faults this Run will see is drawn first, 0 to what the scenario allows.
2. Then at which turns, over the expected length of the Run.
3. At each turn, any ready Option; at those places, any fault that could strike.
4. A pick draws from a stream of its own, keyed by who picks what for the how-many-eth time, so that
   a new consumer does not move the others (GEN-5).
"""

from __future__ import annotations

from random import Random

from testbed.chooser import Chooser, Plan, RunInfo
from testbed.pending import Alternatives, Options


class Uniform(Chooser):
    """A random walk. Run i of a seed is always the same one."""

    def __init__(self, seed: int = 0) -> None:
        self.seed = seed
        self._key = ""
        self._bits = Random(seed).getrandbits
        self._turn = 0
        self._strikes: list[int] = []
        self._picked: dict[tuple[str, str], int] = {}

    def begin(self, run: RunInfo) -> Plan | None:
        self._key = f"{self.seed}/{run.number}"
        self._bits = Random(self._key).getrandbits
        self._turn = 0
        self._picked = {}
        self._strikes = []
        if run.faults_max:
            faults = _below(self._bits, run.faults_max + 1)
            length = max(run.turns_expected(), 1)
            self._strikes = sorted(_below(self._bits, length) for _ in range(faults))
        return Plan(f"uniform, seed {self.seed}, run {run.number}")

    def choose(self, options: Options | Alternatives) -> int:
        ready = options.ready
        if isinstance(options, Alternatives):
            return self._pick(options)
        self._turn += 1
        if self._strikes and self._turn > self._strikes[0]:
            faults = len(options.faults)
            if faults:
                self._strikes.pop(0)
                return ready + _below(self._bits, faults)
        return _below(self._bits, ready) if ready > 1 else 0

    def _pick(self, options: Options | Alternatives) -> int:
        key = (options[0].path, options[0].verb)
        ordinal = self._picked[key] = self._picked.get(key, 0) + 1
        bits = Random(f"{self._key}/{key[0]}/{key[1]}/{ordinal}").getrandbits
        return _below(bits, len(options))


def _below(bits: object, n: int) -> int:
    """A number below n, from 32 bits: the same on every Python."""
    return (bits(32) * n) >> 32  # type: ignore[operator, no-any-return]
