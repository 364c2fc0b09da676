"""Growth: how the chance that a Run fails grows along it, as its choices are made one by one.

1. The Run is played again up to a point, and continued at random so many times: the share of these
   that fail is its chance there. At the end it has failed.
2. The points are not all looked at. The first and the last are, and then, so many times, the middle
   of the two neighbours between which the chance changes most, or that are farthest apart.
3. Told are the points at which it moves: those after which the race was as good as lost.
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
"""By so many percent a chance must move to be told."""
BARS = "▁▂▃▄▅▆▇█"


@attrs.frozen
class FailureRate:
    """How often the continuations from one point failed."""

    point: int
    """How many choices had been made: the number of the last Step before it; 0: none."""
    failed: int
    runs: int

    @property
    def percent(self) -> int:
        """The share that failed, rounded to the nearest."""
        return (200 * self.failed + self.runs) // (2 * self.runs)

    @property
    def bar(self) -> str:
        """The same as one character; an empty one only if none failed."""
        place = -(-self.failed * (len(BARS) - 1) // self.runs)
        return BARS[place]


def growth(
    points: Sequence[int],
    failing: Callable[[int], int],
    *,
    runs: int = RUNS,
    points_max: int = POINTS_MAX,
) -> list[FailureRate]:
    """The chance at some of these points, in order: at the first, at the last, and where it moves.

    `failing` continues the Run from that point `runs` times, and says how many of them failed. It
    is called once for each point looked at.
    """
    ordered = sorted(set(points))
    if not ordered:
        return []
    ends = dict.fromkeys((0, len(ordered) - 1))
    chances = {place: _chance(ordered[place], failing, runs) for place in ends}
    while len(chances) < points_max:
        between = _widest(chances)
        if between is None:
            break
        chances[between] = _chance(ordered[between], failing, runs)
    return [chances[place] for place in sorted(chances)]


def _chance(point: int, failing: Callable[[int], int], runs: int) -> FailureRate:
    return FailureRate(point, failing(point), runs)


def _widest(chances: Mapping[int, FailureRate]) -> int | None:
    """The middle of the two neighbours that differ most; of those alike, that are farthest apart,
    and of those again the first. None if no two have anything between them."""
    places = sorted(chances)
    gaps = [
        (-abs(chances[after].failed - chances[before].failed), before - after, before, after)
        for before, after in pairwise(places)
        if after - before > 1
    ]
    if not gaps:
        return None
    _, _, before, after = min(gaps)
    return (before + after) // 2


def growth_lines(chances: Sequence[FailureRate], options: Mapping[int, Option]) -> list[str]:
    """The chances as one row of bars, then a line for each Step after which they moved."""
    if not chances:
        return []
    row = "".join(chance.bar for chance in chances)
    lines = [f"The chance to fail along the run: {row}  {chances[0].percent} % at the start"]
    told = chances[0]
    for chance in chances[1:]:
        if abs(chance.percent - told.percent) >= MOVES_MIN:
            said = _said(options[chance.point])
            moved = f"{told.percent} % → {chance.percent} %"
            lines.append(f"  {chance.bar} step {chance.point} {said}: {moved}")
            told = chance
    return lines


def _said(option: Option) -> str:
    """What happened in a Step, as a race file would say it."""
    if option.kind == FAULT:
        said: str = option.fault.describe(option.key)
        return said
    if option.kind == PICK:
        return f"{option.actor} picks {option.verb}: {option.label}"
    return str(pattern_of(option, by_task=False, nth=1) or option)
