"""Heap: what waits by rank, the least first; any of it can be replaced or taken out by its key."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from heapq import heapify, heappop, heappush
from typing import Any, Generic, TypeVar

T = TypeVar("T")


class Heap(Generic[T]):
    """Costs O(log n) a call. What is replaced or taken out leaves its old place behind, which is
    passed over when it comes to the top, and swept out when there is more of that than of else.

    Two keys never rank the same, so the order is that of the ranks, whatever came first.
    """

    def __init__(self, rank: Callable[[T], Any]) -> None:
        self._rank = rank
        self._items: dict[str, tuple[Any, T]] = {}
        self._heap: list[tuple[Any, str]] = []

    def __len__(self) -> int:
        return len(self._items)

    def __contains__(self, key: str) -> bool:
        return key in self._items

    def __iter__(self) -> Iterator[str]:
        """The keys, in the order of their ranks."""
        return iter(sorted(self._items, key=lambda key: self._items[key][0]))

    def values(self) -> Iterator[T]:
        """What waits, in the order of its ranks."""
        return (self._items[key][1] for key in self)

    def get(self, key: str) -> T | None:
        """What waits under that key."""
        found = self._items.get(key)
        return None if found is None else found[1]

    def put(self, key: str, item: T) -> None:
        """Let it wait under that key, instead of what did; also when its rank has changed."""
        rank = self._rank(item)
        self._items[key] = (rank, item)
        heappush(self._heap, (rank, key))
        if len(self._heap) > 2 * len(self._items) + 8:
            self._heap = [(rank, key) for key, (rank, _) in self._items.items()]
            heapify(self._heap)

    def drop(self, key: str) -> T | None:
        """Take it out; None if nothing waits under that key."""
        found = self._items.pop(key, None)
        return None if found is None else found[1]

    def first(self) -> T | None:
        """What ranks least; None if nothing waits."""
        while self._heap:
            rank, key = self._heap[0]
            found = self._items.get(key)
            if found is not None and found[0] == rank:
                return found[1]
            heappop(self._heap)
        return None

    def take(self) -> T:
        """The same, taken out; something waits."""
        item = self.first()
        assert item is not None
        del self._items[heappop(self._heap)[1]]
        return item
