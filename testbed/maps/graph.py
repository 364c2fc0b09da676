"""Graph: the states that were found, and the moves between them, while a map is being made."""

from __future__ import annotations

from collections import deque

import attrs

from testbed.maps.saying import Same

TO_TRY = -1
"""Where a move leads that was not tried yet."""


@attrs.define
class Arc:
    """One move out of a state."""

    choice: int | None
    """What the Chooser answers, where the state was met first; None: it lets the Run end."""
    same: Same
    """What it is found again by."""
    nth: int
    """Which it is of the moves that are the same by that, from 0."""
    said: str
    kind: str
    actor: str
    to: int = TO_TRY
    """The number of the state it leads to."""


@attrs.define
class MapPlace:
    """One state."""

    number: int
    arcs: list[Arc]
    parent: int
    """The state from which it was met first; -1: it is the start."""
    by: int
    """The arc of that one."""
    is_rest: bool
    """Whether the Run ends here, unless a fault strikes."""
    ms: int
    truth: int = -1
    beliefs: tuple[int, ...] = ()
    end: int = -1
    """The number of the end of the Run, if it is over here, or is at rest."""


class Graph:
    """All states and moves so far."""

    def __init__(self) -> None:
        self.places: list[MapPlace] = []
        self.by_key: dict[str, int] = {}
        self._open: list[tuple[int, int]] = []
        """The moves to be tried, those that were found last at the end; of one state its calmest
        last. Some have been tried meanwhile."""
        self.to_try = 0
        """How many moves were not tried yet."""

    def add(self, key: str, place: MapPlace) -> MapPlace:
        """Add a state; its moves are to be tried."""
        self.by_key[key] = place.number
        self.places.append(place)
        self._open += [(place.number, at) for at in range(len(place.arcs) - 1, -1, -1)]
        self.to_try += len(place.arcs)
        return place

    def connect(self, number: int, at: int, to: int) -> None:
        """That move leads to that state."""
        arc = self.places[number].arcs[at]
        assert arc.to == TO_TRY
        arc.to = to
        self.to_try -= 1

    def next_open(self) -> tuple[int, int] | None:
        """A move that was not tried yet: one of the state that was found last."""
        while self._open:
            number, at = self._open[-1]
            if self.places[number].arcs[at].to == TO_TRY:
                return number, at
            self._open.pop()
        return None

    def way_to(self, number: int) -> list[tuple[int, int]]:
        """How a state was met first: for each state on the way there, the number of the arc."""
        way: list[tuple[int, int]] = []
        while (place := self.places[number]).parent >= 0:
            way.append((place.parent, place.by))
            number = place.parent
        return way[::-1]

    def calmest_ways(self) -> list[tuple[int, ...]]:
        """For each end, the states on the way to it with the fewest moves that are not calm. Of
        several such ways it is the shortest, then the one to the state that was found first."""
        cost: dict[int, tuple[int, int]] = {0: (0, 0)}
        came: dict[int, int] = {}
        queue = deque([0])
        while queue:
            number = queue.popleft()
            turned, moves = cost[number]
            for at, arc in enumerate(self.places[number].arcs):
                if arc.to < 0 or arc.to == number:
                    continue
                new = (turned + (at > 0), moves + 1)
                if arc.to not in cost or new < cost[arc.to]:
                    cost[arc.to], came[arc.to] = new, number
                    queue.append(arc.to)
        best: dict[int, tuple[tuple[int, int], int]] = {}
        for place in self.places:
            if place.end >= 0 and place.number in cost:
                at_cost = (cost[place.number], place.number)
                best[place.end] = min(best.get(place.end, at_cost), at_cost)
        return [_back(came, best[end][1]) for end in sorted(best)]


def _back(came: dict[int, int], number: int) -> tuple[int, ...]:
    way = [number]
    while number in came:
        number = came[number]
        way.append(number)
    return tuple(reversed(way))
