"""Timers: when pods leave the backoff queue, stop waiting for events, or are assumed no longer."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable

from actors.scheduler.memory.beliefs import Beliefs
from actors.scheduler.memory.ticks import Tick, Ticks
from testbed import Client
from testbed.objects import Pod

BACKOFF_TICK_MS, STAY_TICK_MS, EXPIRY_TICK_MS = 1000, 30_000, 1000


class Timers:
    """The periodic work of one life of a scheduler. Nothing fires before `begin`."""

    def __init__(
        self,
        client: Client,
        beliefs: Beliefs,
        assume_ttl_ms: int,
        queue_changed: Callable[[int], None],
    ) -> None:
        """`queue_changed` is called after each flush of the queue, with the time."""
        self._client = client
        self._beliefs = beliefs
        self._assume_ttl_ms = assume_ttl_ms
        self._queue_changed = queue_changed
        self._expiries: deque[int] = deque()
        """When assumed pods expire, the earliest first."""
        self._ticks = Ticks(client, self._all())

    def begin(self) -> None:
        """All periods begin now."""
        self._ticks.begin()

    def look(self, now_ms: int) -> None:
        """Set each timer again. Call this when the queue may have changed."""
        self._ticks.look(now_ms)

    def is_late(self, now_ms: int) -> bool:
        """Whether a timer is set to a time that is past, so that it has to be set again."""
        return now_ms > self._ticks.first_ms

    def phases(self, now_ms: int) -> list[int]:
        """How long until each expiry, and how far each timer is into its period."""
        return [*(due_ms - now_ms for due_ms in self._expiries), *self._ticks.phases(now_ms)]

    def binding_finished(self, pod: Pod) -> None:
        """The binding of that pod has ended, bound or not: from now on it may expire."""
        now_ms, ttl_ms = self._client.elapsed(), self._assume_ttl_ms
        self._beliefs.cache.finish_binding(pod, now_ms)
        if ttl_ms:
            self._expiries.append(now_ms + ttl_ms + 1)
            self._ticks.look(now_ms)

    def _all(self) -> Iterable[Tick]:
        queue = self._beliefs.queue
        yield Tick("flush backoff", BACKOFF_TICK_MS, lambda: queue.backoff_due_ms, self._flush)
        # It only tries again what an event should have moved long ago. A Run that waited for it
        # would never end as long as one pod finds no room.
        yield Tick(
            "flush unschedulable", STAY_TICK_MS, lambda: queue.stay_due_ms, self._flush_stay,
            is_idle=True,
        )  # fmt: skip
        yield Tick("expire assumed", EXPIRY_TICK_MS, self._next_expiry, self._expire)

    def _flush(self, now_ms: int) -> None:
        self._beliefs.queue.flush_backoff(now_ms)
        self._queue_changed(now_ms)

    def _flush_stay(self, now_ms: int) -> None:
        self._beliefs.queue.flush_unschedulable(now_ms)
        self._queue_changed(now_ms)

    def _next_expiry(self) -> int | None:
        return self._expiries[0] if self._expiries else None

    def _expire(self, now_ms: int) -> None:
        while self._expiries and self._expiries[0] <= now_ms:
            self._expiries.popleft()
        for info in self._beliefs.cache.expire(now_ms):
            self._client.record("expired", pod=info.key)
