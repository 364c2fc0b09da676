"""Chance: all draws for one Run, a function of (seed, run).

Only `getrandbits` is used: the other methods of Random may change from one Python to the next.
"""

from __future__ import annotations

from collections.abc import Sequence
from random import Random
from typing import TypeVar

from testbed.chooser import RunInfo
from testbed.turns.option import Option
from testbed.turns.pending import Alternatives, Options

T = TypeVar("T")


class Chance:
    """The draws of one Run. Each pick has a stream of its own, keyed by the task, the label and the
    number of the pick. So one more pick somewhere does not change the others (GEN-5)."""

    def __init__(self, seed: int, number: int) -> None:
        self._key = f"{seed}/{number}"
        self.bits = Random(self._key).getrandbits
        self._picked: dict[tuple[str, str], int] = {}

    def below(self, n: int) -> int:
        """A number below n, all with equal chances."""
        return (self.bits(32) * n) >> 32

    def one_of(self, items: Sequence[T]) -> T:
        """One of these, all with equal chances."""
        return items[self.below(len(items))]

    def weighted(self, items: Sequence[T], weights: Sequence[int]) -> T:
        """One of these, in proportion to its weight; at least one weight is not 0."""
        left = (self.bits(64) * sum(weights)) >> 64
        for item, weight in zip(items, weights, strict=True):
            if left < weight:
                return item
            left -= weight
        raise ValueError("weights that are all 0")

    def places(self, count: int, length: int) -> list[int]:
        """`count` places below a length, in order; two may be the same."""
        return sorted(self.below(max(length, 1)) for _ in range(count))

    def strikes(self, run: RunInfo, length: int) -> list[int]:
        """Draw how many faults strike in this Run, from 0 to what is allowed; then where."""
        return self.places(self.below(run.faults_max + 1), length) if run.faults_max else []

    def fault(self, options: Options) -> int:
        """The index of one of the faults that could strike now."""
        return options.ready + self.below(len(options.faults))

    def pick(self, alternatives: Alternatives) -> int:
        """The index of one of these alternatives."""
        first: Option = alternatives[0]
        asked = (first.path, first.verb)
        nth = self._picked[asked] = self._picked.get(asked, 0) + 1
        bits = Random(f"{self._key}/{first.path}/{first.verb}/{nth}").getrandbits
        return (bits(32) * len(alternatives)) >> 32
