"""Subject: what a claim has looked at in one Run, and whether anything of that was there.

A claim over pods says nothing of a Run in which there never was a pod. So until it has found
something, a claim is shown the Evidence through a window that notes what it looks at. From then on
it sees the Evidence itself, and that costs nothing.
"""

from __future__ import annotations

from typing import Any

NEUTRAL = frozenset(
    {"now_ms", "faults", "last_fault_ms", "ask", "calm_end", "play_lap", "named_in"}
)
"""What an Evidence has in a Run in which nothing happens, too."""


class Subject:
    """What one claim has looked at in one Run."""

    __slots__ = ("is_found", "kinds", "looks_at")

    def __init__(self) -> None:
        self.is_found = False
        """Whether something that it looked at was there."""
        self.kinds: dict[str, None] = {}
        """The kinds of objects at which it has looked; an empty name stands for all kinds."""
        self.looks_at: dict[str, None] = {}
        """What else of the Run it has looked at: `records`, `actors`, `changes`, …"""

    def shown(self, evidence: Any) -> Any:
        """The Evidence, which notes what is asked of it."""
        return _Window(evidence, self)

    def found(self, what: Any) -> Any:
        """The same; notes whether it is anything."""
        if what is not None and (not hasattr(what, "__len__") or len(what)):
            self.is_found = True
        return what


class _Window:
    """The Evidence, which notes what a claim looks at."""

    __slots__ = ("_evidence", "_subject")

    def __init__(self, evidence: Any, subject: Subject) -> None:
        self._evidence = evidence
        self._subject = subject

    @property
    def store(self) -> Any:
        """The Store, which notes the same."""
        return _StoreWindow(self._evidence.store, self._subject)

    def __getattr__(self, name: str) -> Any:
        what = getattr(self._evidence, name)
        if name in NEUTRAL:
            return what
        self._subject.looks_at[name] = None
        return self._subject.found(what)


class _StoreWindow:
    """The Store, which notes at which kinds a claim looks, and whether it finds any."""

    __slots__ = ("_store", "_subject")

    def __init__(self, store: Any, subject: Subject) -> None:
        self._store = store
        self._subject = subject

    def peek(self, key: str, at: int | None = None) -> Any:
        """The Entry at a key, if there is one."""
        subject = self._subject
        subject.kinds[key.partition("/")[0]] = None
        entry = self._store.peek(key, at)
        if entry is not None:
            subject.is_found = True
        return entry

    def snapshot(self, prefix: str, at: int | None = None, limit: int | None = None) -> Any:
        """The Entries under a prefix."""
        subject = self._subject
        subject.kinds[prefix.partition("/")[0]] = None
        entries = self._store.snapshot(prefix, at, limit)
        if entries:
            subject.is_found = True
        return entries

    def log(self, plural: str | None = None) -> Any:
        """The Log of a kind, or of all."""
        self._subject.kinds[plural or ""] = None
        log = self._store.log(plural)
        self._subject.found(log.changes)
        return log

    def __len__(self) -> int:
        self._subject.kinds[""] = None
        return len(self._subject.found(self._store))

    def __getattr__(self, name: str) -> Any:
        self._subject.is_found = True
        return getattr(self._store, name)
