"""The frame of these controllers, as their authors would write it: a work queue that holds each
name once, filled by informers and by a resync, and emptied by one worker that retries."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from testbed import ApiError, Cache, Client
from testbed.objects import Object

BACKOFF_MS = 500
"""How long a worker waits after a refusal."""


class WorkQueue:
    """The names that are still to be looked at, each once."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self._queue = client.queue("work", idle=True)
        self._queued: set[str] = set()

    def add(self, name: str) -> None:
        """Let that name be looked at, once."""
        if name not in self._queued:
            self._queued.add(name)
            self._queue.put(name)

    def follow(self, cache: Cache[Any], to: Callable[[Any], str] = lambda it: it.meta.name) -> None:
        """Add what an informer tells of, by the name to which it belongs."""

        def changed(old: Object, new: Object) -> None:
            self.add(to(new))

        def told(item: Object) -> None:
            self.add(to(item))

        cache.on(add=told, update=changed, delete=told)

    async def resync(self, cache: Cache[Any], every_ms: int) -> None:
        """Add everything again and again, as a shared informer with a resync period does."""
        while True:
            await self._client.sleep(every_ms, "resync")
            for item in cache.all():
                self.add(item.meta.name)

    async def work(self, reconcile: Callable[[str], Awaitable[None]]) -> None:
        """Look at one name after another; at one that was refused, once more a little later."""
        while True:
            name = await self._queue.get()
            self._queued.discard(name)
            try:
                await reconcile(name)
            except ApiError:
                await self._client.sleep(BACKOFF_MS, "back off")
                self.add(name)
