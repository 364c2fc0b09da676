"""Growth: how the chance that a Run fails grows along the Run, choice by choice.

1. The Run is played again up to a point, and continued at random many times. The share of these
   continuations that fail is its failure rate at that point. At the end it has failed.
2. Not every point is measured. The first and the last are; then, up to a limit, the middle between
   the two neighbours whose rates differ most, or that are farthest apart.
3. What is shown are the points at which the rate moves: there the race was as good as lost.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise

import attrs

from testbed.races.pattern import pattern_of
from testbed.turns.option import FAULT, PICK, Option

POINTS_MAX = 24
RUNS = 100
MOVES_MIN = 10
"""A failure rate must move by this many percentage points to be shown."""
BARS = "▁▂▃▄▅▆▇█"


@attrs.frozen
class FailureRate:
    """How often the continuations from one point of a Run failed."""

    point: int
    """The number of choices made before it: the number of the last Step then, or 0."""
    failed: int
    runs: int

    @property
    def percent(self) -> int:
        """The share that failed, rounded to the nearest percent."""
        return (200 * self.failed + self.runs) // (2 * self.runs)

    @property
    def bar(self) -> str:
        """The same as one character. Only if none failed is it the lowest bar."""
        # Rounded up, so that even one failure in many shows.
        place = -(-self.failed * (len(BARS) - 1) // self.runs)
        return BARS[place]


def growth(
    points: Sequence[int],
    failing: Callable[[int], int],
    *,
    runs: int = RUNS,
    points_max: int = POINTS_MAX,
) -> list[FailureRate]:
    """The failure rate at some of these points, in order: the first, the last, where it moves.

    `failing` continues the Run from a point `runs` times, and returns how many of these failed. It
    is called once for each point that is measured.
    """
    ordered = sorted(set(points))
    if not ordered:
        return []
    ends = dict.fromkeys((0, len(ordered) - 1))
    rates = {place: _rate(ordered[place], failing, runs) for place in ends}
    while len(rates) < points_max:
        between = _widest(rates)
        if between is None:
            break
        rates[between] = _rate(ordered[between], failing, runs)
    return [rates[place] for place in sorted(rates)]


def _rate(point: int, failing: Callable[[int], int], runs: int) -> FailureRate:
    return FailureRate(point, failing(point), runs)


def _widest(rates: Mapping[int, FailureRate]) -> int | None:
    """The middle between the two measured neighbours that differ most. Ties go to those farthest
    apart, then to the first. None if no point between two neighbours is left."""
    places = sorted(rates)
    gaps = [
        (-abs(rates[after].failed - rates[before].failed), before - after, before, after)
        for before, after in pairwise(places)
        if after - before > 1
    ]
    if not gaps:
        return None
    _, _, before, after = min(gaps)
    return (before + after) // 2


def growth_lines(rates: Sequence[FailureRate], options: Mapping[int, Option]) -> list[str]:
    """The rates as one row of bars, then a line for each Step after which they moved."""
    if not rates:
        return []
    row = "".join(rate.bar for rate in rates)
    lines = [f"The chance to fail along the run: {row}  {rates[0].percent} % at the start"]
    shown = rates[0]
    for rate in rates[1:]:
        # Compared with the last rate that was shown, so that many small moves add up.
        if abs(rate.percent - shown.percent) >= MOVES_MIN:
            moved = f"{shown.percent} % → {rate.percent} %"
            what = _happened(options[rate.point])
            lines.append(f"  {rate.bar} step {rate.point} {what}: {moved}")
            shown = rate
    return lines


def _happened(option: Option) -> str:
    """What happened in a Step, in the words of a race file."""
    if option.kind == FAULT:
        said: str = option.fault.describe(option.key)
        return said
    if option.kind == PICK:
        return f"{option.actor} picks {option.verb}: {option.label}"
    return str(pattern_of(option, by_task=False, nth=1) or option)
