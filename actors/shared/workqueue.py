"""Workqueue: the keys that a controller is still to process, as in client-go (CTL-1).

A key is queued once, however often it was added. A key that is added while it is being processed is
processed once more afterwards, never by two tasks at a time. A key that failed is requeued after a
backoff that doubles each time.
"""

from __future__ import annotations

from collections.abc import Awaitable
from typing import Any

from testbed import ApiError, Client, NotFound

AGAIN_MS, AGAIN_MS_MAX = 5, 1_000_000
"""The backoff after the first failure, and the longest one."""
FAILURES_MAX = 19
"""After how many failures in a row it is the longest; more are not told apart."""


async def is_done(work: Awaitable[Any]) -> bool:
    """Do the work for a key; returns whether that is settled. It is if its object is gone, too; if
    it has failed in any other way, the key is to be requeued."""
    try:
        await work
    except NotFound:
        return True
    except ApiError:
        return False
    return True


class Workqueue:
    """The queue of one life of a controller, made in its `run`. Several tasks may take from it."""

    def __init__(self, client: Client, name: str = "todo") -> None:
        self._client = client
        self._line = client.queue(name, idle=True)
        self._dirty: dict[str, None] = {}
        """The keys that are to be processed: those queued, and those added during processing."""
        self._processing: dict[str, None] = {}
        """The keys that were taken and are not done."""
        self._failures: dict[str, int] = {}
        """By key, how often it has failed in a row, as far as that makes its delay longer."""
        self._due: dict[str, int] = {}
        """By key, when it is queued after a delay."""

    def add(self, key: str, after_ms: int = 0) -> None:
        """Queue a key, now or after a delay. Of several delays the one that ends first counts."""
        if after_ms:
            self._delay(key, after_ms)
        elif key not in self._dirty:
            self._dirty[key] = None
            # A key in processing is only marked: two tasks at one key would race with each other.
            # Yet it must be processed again, since that task may have looked before the news came.
            if key not in self._processing:
                self._line.put(key)

    async def take(self) -> str:
        """The key that was queued first. The task that takes it must call `done` with it."""
        key: str = await self._line.get()
        del self._dirty[key]
        self._processing[key] = None
        return key

    def done(self, key: str, *, has_failed: bool = False) -> None:
        """The key was processed; if that has failed, it is requeued with backoff."""
        del self._processing[key]
        if key in self._dirty:
            self._line.put(key)
        if not has_failed:
            self._failures.pop(key, None)
            return
        self._failures[key] = times = min(self._failures.get(key, 0) + 1, FAILURES_MAX)
        self.add(key, min(AGAIN_MS * 2 ** (times - 1), AGAIN_MS_MAX))

    def digest(self) -> object:
        """What is to be processed, what is being processed, and what has failed how often. What is
        added later is a timer of its own, which is seen anyway."""
        return list(self._dirty), list(self._processing), frozenset(self._failures.items())

    def _delay(self, key: str, after_ms: int) -> None:
        due_ms = self._client.elapsed() + after_ms
        if key not in self._due or due_ms < self._due[key]:
            self._due[key] = due_ms
            self._client.spawn("later", self._later, key, after_ms, due_ms)

    async def _later(self, key: str, after_ms: int, due_ms: int) -> None:
        await self._client.sleep(after_ms, f"again {key}")
        if self._due.get(key) == due_ms:
            del self._due[key]
            self.add(key)
