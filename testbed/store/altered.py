"""Altered: a Store written again from the Changes of another one, of which some are left out."""

from __future__ import annotations

from collections.abc import Sequence

from testbed.store.change import Change
from testbed.store.store import Store


class AlteredStore(Store):
    """A Store whose revisions and times are those of another one, also where a commit of that one
    is left out. It asks what a claim would say had something not been written."""

    def __init__(self, committed_ms: Sequence[int]) -> None:
        """`committed_ms` has the time of each commit of the other Store, from the first."""
        super().__init__()
        self._times = committed_ms

    @classmethod
    def like(cls, store: Store) -> AlteredStore:
        """An empty Store, to be written as that one was."""
        return cls(store._committed_ms)

    def write(self, key: str, value: object | None, revision: int) -> Change | None:
        """Write a key at that revision, or remove it if the value is None. Returns the Change; None
        if there was nothing to remove."""
        if value is not None:
            return self._put(key, value, revision)[0]
        old = self._live.get(key)
        return None if old is None else self._drop(old, revision)

    def come_to(self, revision: int) -> None:
        """Count on to that revision, whether anything was written at it or not."""
        while self._revision < revision:
            self._revision += 1
            place = self._revision - 2
            self._committed_ms.append(self._times[place] if place < len(self._times) else 0)
