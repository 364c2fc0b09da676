"""Heap: items ordered by rank, each under a key by which it can be replaced or taken out."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from heapq import heapify, heappop, heappush
from typing import Any, Generic, TypeVar

T = TypeVar("T")


class Heap(Generic[T]):
    """A priority queue with keys, in O(log n) a call. The lowest rank comes first.

    No two keys may have the same rank; so the order is that of the ranks, however items came.
    """

    # Python's heapq cannot remove an entry from the middle. So an item that is replaced or dropped
    # leaves its old entry in `_heap`. `_items` has what is true: an entry at the top that disagrees
    # with it is stale, and `first` throws it away. When more than half of the entries are stale,
    # `put` builds the heap again, so it never holds more than twice what it should.

    def __init__(self, rank: Callable[[T], Any]) -> None:
        self._rank = rank
        self._items: dict[str, tuple[Any, T]] = {}
        """Each item with the rank it had when it was put; items may change afterwards."""
        self._heap: list[tuple[Any, str]] = []

    def __len__(self) -> int:
        return len(self._items)

    def __contains__(self, key: str) -> bool:
        return key in self._items

    def __iter__(self) -> Iterator[str]:
        """The keys, in the order of their ranks."""
        return iter(sorted(self._items, key=lambda key: self._items[key][0]))

    def values(self) -> Iterator[T]:
        """The items, in the order of their ranks."""
        return (self._items[key][1] for key in self)

    def get(self, key: str) -> T | None:
        """The item under that key, or None."""
        found = self._items.get(key)
        return None if found is None else found[1]

    def put(self, key: str, item: T) -> None:
        """Put an item under a key, in place of the one there; also if only its rank has changed."""
        rank = self._rank(item)
        self._items[key] = (rank, item)
        heappush(self._heap, (rank, key))
        if len(self._heap) > 2 * len(self._items) + 8:
            self._heap = [(rank, key) for key, (rank, _) in self._items.items()]
            heapify(self._heap)

    def drop(self, key: str) -> T | None:
        """Take out the item under that key; None if there is none."""
        found = self._items.pop(key, None)
        return None if found is None else found[1]

    def first(self) -> T | None:
        """The item of the lowest rank; None if the heap is empty."""
        if not self._items:
            return None
        while self._heap:
            rank, key = self._heap[0]
            found = self._items.get(key)
            if found is not None and found[0] == rank:
                return found[1]
            heappop(self._heap)
        return None

    def take(self) -> T:
        """Take out the item of the lowest rank; the heap must not be empty."""
        item = self.first()
        assert item is not None
        del self._items[heappop(self._heap)[1]]
        return item
