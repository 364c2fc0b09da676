"""Tally: immutable counts by key; a changed copy shares what has not changed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Generic, TypeVar

K = TypeVar("K")


class Tally(Generic[K]):
    """Counts by key that never change: `plus` makes another Tally.

    Preemption asks for each pod it removes or puts back what the counts would be then.
    """

    # A Tally is its base, shared by all that `plus` makes of it, and a small dict of differences.
    # So `plus` costs as much as what differs from the base, however many keys there are. `least`
    # sorts the base once, and later copies share the order. The lowest count is then that of the
    # first key in this order without a difference, or of one of the few keys with one.

    __slots__ = ("_base", "_delta", "_order")

    def __init__(self, counts: Mapping[K, int]) -> None:
        self._base = counts
        self._delta: dict[K, int] = {}
        self._order: list[tuple[int, K]] | None = None

    def __getitem__(self, key: K) -> int:
        return self._base.get(key, 0) + self._delta.get(key, 0)

    def plus(self, keys: Iterable[K], by: int) -> Tally[K]:
        """The counts with `by` more of each of these keys; this Tally itself if there are none."""
        delta = self._delta
        for key in keys:
            if delta is self._delta:
                delta = delta.copy()
            delta[key] = delta.get(key, 0) + by
        if delta is self._delta:
            return self
        new: Tally[K] = object.__new__(Tally)
        new._base, new._delta, new._order = self._base, delta, self._order
        return new

    @property
    def is_none(self) -> bool:
        """Whether every count is 0."""
        if not self._delta:
            return not any(self._base.values())
        return not any(self[key] for key in (*self._base, *self._delta))

    def __iter__(self) -> Iterator[K]:
        return iter({**self._base, **self._delta})

    def __len__(self) -> int:
        """The number of keys, also of those with the count 0."""
        return len(self._base) + sum(key not in self._base for key in self._delta)

    @property
    def least(self) -> int:
        """The lowest count; ValueError if there is no key."""
        if self._order is None:
            self._order = sorted(((n, key) for key, n in self._base.items()), key=_count)
        rest = (n for n, key in self._order if key not in self._delta)
        return min([*map(self.__getitem__, self._delta), *_first(rest)])


def _count(pair: tuple[int, object]) -> int:
    return pair[0]


def _first(counts: Iterable[int]) -> list[int]:
    for count in counts:
        return [count]
    return []
