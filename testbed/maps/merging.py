"""Merging: states that look the same, and from which the same moves lead to the same, are one.

Two faults that a World allows may strike in the same way, and differ only in what is left of each.
What a map is made by tells such states apart; who plays on it cannot.

1. States are sorted by what is seen in them: the truth, the beliefs, the end.
2. They are sorted again by what their moves lead to, and the calm one, until no group falls apart.
3. Each group is one state, that of the lowest number. Of its moves that are said alike and lead to
   the same, the first is kept; those that lead elsewhere are numbered.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import groupby
from typing import Any

from testbed.maps.graph import Arc, MapPlace


class Merged:
    """The states of a map as a page shows them."""

    def __init__(self, places: Sequence[MapPlace], rests: object) -> None:
        self._places = places
        self._rests = rests
        """The move of a state at rest, which is none."""
        group = _numbered((place.truth, place.beliefs, place.end) for place in places)
        while True:
            finer = _numbered(self._seen(place, group) for place in places)
            if max(finer) == max(group):
                break
            group = finer
        self._group = group
        first: dict[int, MapPlace] = {}
        for place in places:
            first.setdefault(group[place.number], place)
        self.places = list(first.values())
        """One state of each group, in the order in which they were found."""

    def _seen(self, place: MapPlace, group: list[int]) -> tuple[Any, ...]:
        """(2) What tells a state from others of its group."""
        moves = [(_move(arc), group[arc.to]) for arc in self._arcs(place)]
        return group[place.number], tuple(moves[:1]), frozenset(moves)

    def _arcs(self, place: MapPlace) -> list[Arc]:
        return [arc for arc in place.arcs if arc.same != self._rests]

    def moves(self, place: MapPlace) -> list[tuple[str, Arc, int]]:
        """(3) The moves of a state: each in words, with the state that it leads to."""
        kept: dict[tuple[Any, int], Arc] = {}
        for arc in self._arcs(place):
            kept.setdefault((_move(arc), self._group[arc.to]), arc)
        counts: dict[Any, int] = {}
        found = []
        for (move, to), arc in kept.items():
            nth = counts[move] = counts.get(move, 0) + 1
            found.append((arc.said + (f" ({nth})" if nth > 1 else ""), arc, to))
        return found

    def way(self, numbers: Iterable[int]) -> list[int]:
        """A way through these states."""
        return [group for group, _ in groupby(self._group[number] for number in numbers)]


def _move(arc: Arc) -> tuple[str, str, str]:
    """What a move is told from others by."""
    return arc.said, arc.actor, arc.kind


def _numbered(seen: Iterable[Any]) -> list[int]:
    """The number of each of these, from 0 in the order in which they are met first."""
    numbers: dict[Any, int] = {}
    return [numbers.setdefault(each, len(numbers)) for each in seen]
