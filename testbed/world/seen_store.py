"""SeenStore: the Store as a claim sees it while the Judge notes at which keys it looks."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from testbed.store.store import Store


class SeenStore:
    """Answers as the Store does; first it tells `looks_at` each key or prefix that is asked for.

    `shown` says what is shown in place of an Entry or a Log that was found, and `rest` in place of
    anything else that the Store has.
    """

    def __init__(
        self,
        store: Store,
        looks_at: Callable[[str], object],
        shown: Callable[[Any], Any] = lambda found: found,
        rest: Callable[[str], Any] | None = None,
    ) -> None:
        self._store = store
        self._looks_at = looks_at
        self._shown = shown
        self._rest = rest

    def peek(self, key: str, at: int | None = None) -> Any:
        """The Entry at a key, if there is one."""
        self._looks_at(key)
        return self._shown(self._store.peek(key, at))

    def snapshot(self, prefix: str, at: int | None = None, limit: int | None = None) -> list[Any]:
        """The Entries under a prefix, which may be the whole key of one object."""
        self._looks_at(prefix)
        return [self._shown(entry) for entry in self._store.snapshot(prefix, at, limit)]

    def log(self, plural: str | None = None) -> Any:
        """The Log of a kind, or of all."""
        self._looks_at("" if plural is None else f"{plural}/")
        return self._shown(self._store.log(plural))

    def __len__(self) -> int:
        self._looks_at("")
        return len(self._store)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name) if self._rest is None else self._rest(name)
