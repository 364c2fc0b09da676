"""Resampling: how sure a Figure is, by the bootstrap over Runs.

1. Of n Runs, n are drawn with replacement, a thousand times. 2. The Figure is made of each draw.
3. The middle 95 of 100 of these values are the interval. Nothing is assumed of how the values are
spread: times have long tails, and many counts are zero. The draws are the same for every
alternative, Run by Run: the seeds are, too, so two alternatives are compared on equal arrivals.
"""

from __future__ import annotations

from collections.abc import Sequence

import attrs

from testbed.choosers.sampling.chance import Chance
from testbed.search.comparing.sample import Figure, Sample

DRAWS = 1000
RUNS_MIN = 10
"""Of fewer Runs no interval is told: two, drawn again a thousand times, show no more than two."""
OUTSIDE = 40
"""One value in 40 lies below the interval, and one in 40 above it."""


@attrs.frozen
class Estimate:
    """A Figure of many Runs, and the interval that holds 95 of 100 values of resampled Runs."""

    value: float | None
    low: float | None
    high: float | None
    is_exact: bool = False
    """Whether every Run has shown the same whole number."""


def draws_of(runs: int, draws: int = DRAWS) -> list[list[int]]:
    """The numbers of the Runs in each draw; always the same for the same number of Runs."""
    chance = Chance(0, runs)
    return [[chance.below(runs) for _ in range(runs)] for _ in range(draws)]


def estimate(figure: Figure, samples: Sequence[Sample], draws: Sequence[Sequence[int]]) -> Estimate:
    """The Figure of these Runs, and its interval."""
    value = figure.value(samples)
    if figure.is_exact and len({each.count for each in samples}) == 1:
        return Estimate(value, value, value, is_exact=True)
    low, high = _interval([figure.value([samples[n] for n in draw]) for draw in draws])
    return Estimate(value, low, high)


def difference(
    figure: Figure,
    samples: Sequence[Sample],
    first: Sequence[Sample],
    draws: Sequence[Sequence[int]],
) -> Estimate:
    """By how much the Figure of these Runs is larger than that of the first alternative, Run by Run
    of the same seeds."""
    value = _minus(figure.value(samples), figure.value(first))
    values = [
        _minus(figure.value([samples[n] for n in draw]), figure.value([first[n] for n in draw]))
        for draw in draws
    ]
    low, high = _interval(values)
    pairs = {one.count - other.count for one, other in zip(samples, first, strict=True)}
    return Estimate(value, low, high, is_exact=figure.is_exact and len(pairs) == 1)


def is_distinct(found: Estimate) -> bool:
    """Whether the interval of a difference leaves out zero."""
    if found.low is None or found.high is None:
        return False
    return found.low > 0 or found.high < 0


def _minus(one: float | None, other: float | None) -> float | None:
    if one is None or other is None:
        return None
    return 0.0 if one == other else one - other


def _interval(values: Sequence[float | None]) -> tuple[float | None, float | None]:
    known = sorted(value for value in values if value is not None)
    if len(known) < len(values) or not known:
        return None, None
    outside = len(known) // OUTSIDE
    return known[outside], known[-outside - 1]
