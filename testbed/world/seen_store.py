"""SeenStore: the Store as a claim sees it while the keys at which it looks are noted."""

from __future__ import annotations

from typing import Any

from testbed.store.change import Entry
from testbed.store.store import Store


class SeenStore:
    """Answers as the Store does, and notes each key or prefix that is asked for."""

    def __init__(self, store: Store, looked: set[str]) -> None:
        self._store = store
        self._looked = looked

    def peek(self, key: str, at: int | None = None) -> Entry | None:
        """Note that key."""
        self._looked.add(key)
        return self._store.peek(key, at)

    def snapshot(self, prefix: str, at: int | None = None, limit: int | None = None) -> list[Entry]:
        """Note the prefix, which may be the whole key of one object."""
        self._looked.add(prefix)
        return self._store.snapshot(prefix, at, limit)

    def __len__(self) -> int:
        return len(self._store)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)
