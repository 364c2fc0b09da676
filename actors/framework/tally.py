"""Tally: how many there are of each thing; the same with a few more or less shares the rest."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Generic, TypeVar

K = TypeVar("K")


class Tally(Generic[K]):
    """Never changes: `plus` makes another, at the cost of what it differs in."""

    __slots__ = ("_base", "_delta", "_order")

    def __init__(self, counts: Mapping[K, int]) -> None:
        self._base = counts
        self._delta: dict[K, int] = {}
        self._order: list[tuple[int, K]] | None = None

    def __getitem__(self, thing: K) -> int:
        return self._base.get(thing, 0) + self._delta.get(thing, 0)

    def plus(self, things: Iterable[K], by: int) -> Tally[K]:
        """With so many more of each of these; itself if there are none of them."""
        delta = self._delta
        for thing in things:
            if delta is self._delta:
                delta = delta.copy()
            delta[thing] = delta.get(thing, 0) + by
        if delta is self._delta:
            return self
        new: Tally[K] = object.__new__(Tally)
        new._base, new._delta, new._order = self._base, delta, self._order
        return new

    @property
    def is_none(self) -> bool:
        """Whether there is none of anything."""
        if not self._delta:
            return not any(self._base.values())
        return not any(self[thing] for thing in (*self._base, *self._delta))

    def __iter__(self) -> Iterator[K]:
        return iter({**self._base, **self._delta})

    def __len__(self) -> int:
        """How many things it knows of, also those of which there is none."""
        return len(self._base) + sum(thing not in self._base for thing in self._delta)

    @property
    def least(self) -> int:
        """The lowest of them all; ValueError if it knows of nothing."""
        if self._order is None:
            self._order = sorted(((n, thing) for thing, n in self._base.items()), key=_count)
        rest = (n for n, thing in self._order if thing not in self._delta)
        return min([*map(self.__getitem__, self._delta), *_first(rest)])


def _count(pair: tuple[int, object]) -> int:
    return pair[0]


def _first(counts: Iterable[int]) -> list[int]:
    for count in counts:
        return [count]
    return []
