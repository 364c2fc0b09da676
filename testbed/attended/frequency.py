"""Frequency: how often something has happened in so many plays, and what that says of all plays."""

from __future__ import annotations

from collections.abc import Callable
from math import exp, lgamma, log, log1p
from statistics import median

import attrs

CONFIDENCE = 0.95
STEPS = 60
"""Halvings of the interval from 0 to 1: more than a float can tell apart."""


@attrs.frozen
class Frequency:
    """It has happened in `hits` of `plays`."""

    hits: int
    plays: int

    @property
    def interval(self) -> tuple[float, float]:
        """Between which shares of all plays it happens, by Clopper and Pearson: the shares for
        which what was seen, or more of the same, has a chance of at least 2.5 in 100."""
        rare = (1 - CONFIDENCE) / 2
        low = high = 0.0
        if self.hits:
            low = _where(lambda share: self._at_least(self.hits, share) > rare)
        if self.hits == self.plays:
            return low, 1.0
        high = _where(lambda share: 1 - self._at_least(self.hits + 1, share) < rare)
        return low, high

    def _at_least(self, hits: int, share: float) -> float:
        """The chance that it happens in that many plays or more, if that is its share."""
        if share <= 0 or share >= 1:
            return float(share >= 1)
        chances = (
            lgamma(self.plays + 1) - lgamma(k + 1) - lgamma(self.plays - k + 1)
            + k * log(share) + (self.plays - k) * log1p(-share)
            for k in range(hits, self.plays + 1)
        )  # fmt: skip
        return sum(map(exp, chances))

    def __str__(self) -> str:
        low, high = (f"{100 * share:.1f}".removesuffix(".0") for share in self.interval)
        return (
            f"{self.hits} of {self.plays} plays: between {low} and {high} % of all, "
            f"with {100 * CONFIDENCE:g} % confidence"
        )


def _where(is_above: Callable[[float], bool]) -> float:
    """The share from which on it is so."""
    low, high = 0.0, 1.0
    for _ in range(STEPS):
        middle = (low + high) / 2
        low, high = (low, middle) if is_above(middle) else (middle, high)
    return high


def seconds_text(seconds: list[float]) -> str:
    """How long each has taken: the median, and from the quickest to the slowest."""
    if len(seconds) == 1:
        return f"{seconds[0]:.1f} s"
    return f"{median(seconds):.1f} s each ({min(seconds):.1f} to {max(seconds):.1f} s)"
