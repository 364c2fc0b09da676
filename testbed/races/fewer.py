"""Fewer: leaves out the lines of a Race that its breach does not need.

Most of what was late in a Run came long before the breach, and does not matter to it. So the last
lines that made a difference are tried first, and the faults, since whatever follows from a fault is
late as well:

1. No line at all; each of the last few by itself, and the faults alone; then the last 2, 4, 8, ….
2. Of those that are left: all faults are left out, then half of them, …, then one by one; then so
   for holds, then for picks.

(1) can only skip Runs of (2). What makes sure that each line is needed is (2): in its last round
each was left out by itself.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import attrs

from testbed.races.pattern import Pattern
from testbed.races.playing import Played
from testbed.races.race import Deviation, Hold, Race, Strike
from testbed.races.trying import Trying

SINGLES_MAX = 5
"""How many of the last lines are tried by themselves."""
FIELDS = ("faults", "holds", "picks")


def few_at_once(race: Race, played: Played, trying: Trying) -> Race:
    """Return a Race of a few of its lines that shows the breach, or else the Race itself, without
    the lines that make no difference. `played` is its Run."""
    race = trying.core(race)
    order = _last_first(race, played)
    for lines in _some(order):
        if len(lines) >= len(race):
            break
        # In the order of the file, since of two holds of one Option the first counts.
        some = race.having(line for line in race.lines if line in lines)
        if trying.breaches(some):
            return trying.core(some)
    return race


def _last_first(race: Race, played: Played) -> list[Deviation]:
    """Its lines, that which was the last to make a difference first."""
    places = {fate.deviation: fate.place for fate in played.fates if fate.took_place}
    return sorted(race.lines, key=lambda line: -places.get(line, 0))


def _some(order: Sequence[Deviation]) -> Iterator[Sequence[Deviation]]:
    yield ()
    for line in order[:SINGLES_MAX]:
        yield (line,)
    faults = [line for line in order if isinstance(line, Strike)]
    others = [line for line in order if line not in faults]
    length = 0
    while length < len(others):
        yield faults + others[:length]
        length = 2 * length or 2
    if faults:
        yield others


def fewer(race: Race, field: str, trying: Trying) -> Race:
    """Leave out neighbouring lines: all of them, then half as many, …, then single lines.

    Neighbouring lines often belong together, such as a hold and those that follow from it. A line
    that must stay when others are there may go once they are gone, so what is kept is tried again
    with each shorter length, and in the next pass.
    """
    length = len(getattr(race, field))
    while length:
        start = 0
        while start < len(lines := getattr(race, field)) and not trying.cut_off:
            less = attrs.evolve(race, **{field: lines[:start] + lines[start + length :]})
            if (smaller := _breaching(less, race, trying)) is not None:
                race = smaller
            else:
                start += length
        length = min(length // 2, len(getattr(race, field)))
    return race


def _breaching(less: Race, race: Race, trying: Trying) -> Race | None:
    """Return what is left of a Race if it shows the same breach, without the lines that make no
    difference: as it stands or, if faults are left out, with its lines in any life of their actors.
    """
    ways = (less, in_any_life(less)) if len(less.faults) < len(race.faults) else (less,)
    return next((trying.core(way) for way in ways if trying.breaches(way)), None)


def in_any_life(race: Race) -> Race:
    """Return the Race with no life in its lines: they fit in any life of their actors.

    If a crash is left out, the actor has fewer lives, and lines about its second life would match
    nothing, though what they name now happens in the first.
    """

    def any_life(moment: Any) -> Any:
        return attrs.evolve(moment, life=0) if isinstance(moment, Pattern) else moment

    return attrs.evolve(
        race,
        holds=tuple(Hold(any_life(hold.what), any_life(hold.until)) for hold in race.holds),
        faults=tuple(attrs.evolve(s, moment=any_life(s.moment)) for s in race.faults),
        picks=tuple(attrs.evolve(pick, life=0) for pick in race.picks),
    )
