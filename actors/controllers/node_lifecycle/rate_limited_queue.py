"""RateLimitedQueue: the nodes of one zone that are to be tainted, one after another."""

from __future__ import annotations


class RateLimitedQueue:
    """A queue of names, and a bucket with at most one token in it."""

    def __init__(self, interval_ms: int | None) -> None:
        self.interval_ms = interval_ms
        """The time in which the bucket is filled; None: it is never."""
        self._full_ms = 0
        """When the bucket is full again."""
        self._names: dict[str, None] = {}

    def __bool__(self) -> bool:
        return bool(self._names)

    def digest(self, now_ms: int) -> object:
        """What it holds; times count from now."""
        return self.interval_ms, max(self._full_ms - now_ms, 0), list(self._names)

    def put(self, name: str) -> None:
        """Put a name at the end of the queue, also if it is in it already."""
        self.remove(name)
        self._names[name] = None

    def remove(self, name: str) -> None:
        """Take a name out of the queue."""
        self._names.pop(name, None)

    def due_ms(self) -> int | None:
        """When the next one may be taken; None: none can be."""
        return None if self.interval_ms is None or not self._names else self._full_ms

    def take(self, now_ms: int) -> str | None:
        """Take the first name and the token; None if there is no name or no token."""
        if not self._names or not self._has_token(now_ms):
            return None
        name = next(iter(self._names))
        del self._names[name]
        return name

    def set_pace(self, interval_ms: int | None, now_ms: int) -> None:
        """Change the pace. The new bucket is empty if the old one was, so that no change lets two
        through at once."""
        if interval_ms == self.interval_ms:
            return
        had_token = self._has_token(now_ms)
        self.interval_ms = interval_ms
        if interval_ms is not None:
            self._full_ms = now_ms if had_token else now_ms + interval_ms

    def _has_token(self, now_ms: int) -> bool:
        """Take the token, if there is one."""
        if self.interval_ms is None or now_ms < self._full_ms:
            return False
        self._full_ms = now_ms + self.interval_ms
        return True
