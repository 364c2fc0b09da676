"""Ticks: periodic timers that fire at the times of the real ones, but only if there is work.

The real scheduler flushes its backoff queue every second, and looks for pods that have waited too
long every thirty seconds. Here a timer fires at the same times, but skips those at which it would
do nothing: they would keep a World going that is at rest. Both periods slide: one begins when the
work of the last has been done, so a timer that fired late keeps to its new times (SCH-12).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

import attrs

from testbed import Client


@attrs.frozen(eq=False)
class Tick:
    """One periodic timer."""

    name: str
    """Its name in traces and race files: `flush backoff`."""
    period_ms: int
    due_ms: Callable[[], int | None]
    """When there will be work, as things are now; None: never."""
    do: Callable[[int], object]
    """Called with the time."""


class _Kept:
    """One periodic timer that runs."""

    __slots__ = ("alarm", "since_ms", "tick")

    def __init__(self, tick: Tick, client: Client) -> None:
        self.tick = tick
        self.alarm = client.alarm(tick.name)
        self.since_ms = 0
        """When it last fired with work; the times at which it may fire count from then."""


class Ticks:
    """Keeps periodic timers, each with an alarm set to the first period that has work."""

    def __init__(self, client: Client, ticks: Iterable[Tick]) -> None:
        self._client = client
        self._kept = [_Kept(tick, client) for tick in ticks]

    def begin(self) -> None:
        """All periods begin now."""
        now_ms = self._client.elapsed()
        for kept in self._kept:
            kept.since_ms = now_ms
            self._client.spawn(kept.tick.name.replace(" ", "-"), self._keep, kept)
        self.look(now_ms)

    def look(self, now_ms: int) -> None:
        """Set each alarm again. Call this whenever the time of the next work may have changed."""
        for kept in self._kept:
            tick = kept.tick
            due_ms = tick.due_ms()
            if due_ms is None:
                kept.alarm.set(None)
            else:
                # A real timer has work at the first end of a period that is not before the due
                # time: hence the division that rounds up. Firing at the due time itself would
                # order pods otherwise than the real scheduler does.
                since_ms = kept.since_ms
                periods = -(-(due_ms - since_ms) // tick.period_ms)
                kept.alarm.set(since_ms + periods * tick.period_ms - now_ms)

    def phases(self, now_ms: int) -> list[int]:
        """How far each timer is into its period, even if its alarm is not set."""
        return [(now_ms - kept.since_ms) % kept.tick.period_ms for kept in self._kept]

    async def _keep(self, kept: _Kept) -> None:
        while True:
            await kept.alarm.wait()
            now_ms = kept.since_ms = self._client.elapsed()
            kept.tick.do(now_ms)
            self.look(now_ms)
