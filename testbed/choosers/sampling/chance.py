"""Chance: all that is drawn for one Run, a function of (seed, run).

Only `getrandbits` is used: what the other methods of Random give may change between Pythons.
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
    """The draws of one Run. Picks have streams of their own, keyed by who picks what for the
    how-many-eth time, so that a new consumer does not move the others (GEN-5)."""

    def __init__(self, seed: int, number: int) -> None:
        self._key = f"{seed}/{number}"
        self.bits = Random(self._key).getrandbits
        self._picked: dict[tuple[str, str], int] = {}

    def below(self, n: int) -> int:
        """A number below n, each alike."""
        return (self.bits(32) * n) >> 32

    def one_of(self, items: Sequence[T]) -> T:
        """One of these, each alike."""
        return items[self.below(len(items))]

    def weighted(self, items: Sequence[T], weights: Sequence[int]) -> T:
        """One of these, in proportion to its weight; one weight at least is not 0."""
        left = (self.bits(64) * sum(weights)) >> 64
        for item, weight in zip(items, weights, strict=True):
            if left < weight:
                return item
            left -= weight
        raise ValueError("weights that are all 0")

    def places(self, count: int, length: int) -> list[int]:
        """So many places below a length, in order; two may be the same."""
        return sorted(self.below(max(length, 1)) for _ in range(count))

    def strikes(self, run: RunInfo, length: int) -> list[int]:
        """First how many faults strike in this Run, 0 to what is allowed; then where."""
        return self.places(self.below(run.faults_max + 1), length) if run.faults_max else []

    def fault(self, options: Options) -> int:
        """The index of one of the faults that could strike now."""
        return options.ready + self.below(len(options.faults))

    def pick(self, alternatives: Alternatives) -> int:
        """The index of one of them."""
        first: Option = alternatives[0]
        asked = (first.path, first.verb)
        nth = self._picked[asked] = self._picked.get(asked, 0) + 1
        bits = Random(f"{self._key}/{first.path}/{first.verb}/{nth}").getrandbits
        return (bits(32) * len(alternatives)) >> 32
