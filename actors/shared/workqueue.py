"""Workqueue: keys that wait to be seen to, as a controller of Kubernetes keeps them (CTL-1).

A key waits there once, however often it was added. One that is added while somebody sees to it is
seen to once more after that, never twice at a time. One that failed comes again later, each time
twice as late.
"""

from __future__ import annotations

from testbed import Client

AGAIN_MS, AGAIN_MS_MAX = 5, 1_000_000
"""How long a key waits when it has failed once, and at most."""


class Workqueue:
    """Made in `run`; several tasks may take from it."""

    def __init__(self, client: Client, name: str = "todo") -> None:
        self._client = client
        self._line = client.queue(name, idle=True)
        self._wanted: dict[str, None] = {}
        """Those that wait, or are to be seen to once more."""
        self._in_hand: dict[str, None] = {}
        self._failed: dict[str, int] = {}

    def add(self, key: str, after_ms: int = 0) -> None:
        """Have it seen to, now or so much later."""
        if after_ms:
            self._client.spawn("later", self._later, key, after_ms)
        elif key not in self._wanted:
            self._wanted[key] = None
            if key not in self._in_hand:
                self._line.put(key)

    async def take(self) -> str:
        """The key that has waited longest; whoever takes it says when it is `done`."""
        key: str = await self._line.get()
        del self._wanted[key]
        self._in_hand[key] = None
        return key

    def done(self, key: str, *, has_failed: bool = False) -> None:
        """It was seen to; if that has failed, it comes again."""
        del self._in_hand[key]
        if key in self._wanted:
            self._line.put(key)
        if not has_failed:
            self._failed.pop(key, None)
            return
        self._failed[key] = times = self._failed.get(key, 0) + 1
        self.add(key, min(AGAIN_MS * 2 ** (times - 1), AGAIN_MS_MAX))

    async def _later(self, key: str, after_ms: int) -> None:
        await self._client.sleep(after_ms, f"again {key}")
        self.add(key)
