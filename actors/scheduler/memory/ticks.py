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


@attrs.frozen
class Tick:
    """One periodic timer."""

    name: str
    """Its name in traces and race files: `flush backoff`."""
    period_ms: int
    due_ms: Callable[[], int | None]
    """When there will be work, as things are now; None: never."""
    do: Callable[[int], object]
    """Called with the time."""


class Ticks:
    """Keeps periodic timers, each with an alarm set to the first period that has work."""

    def __init__(self, client: Client, ticks: Iterable[Tick]) -> None:
        self._client = client
        self._alarms = {tick: client.alarm(tick.name) for tick in ticks}
        self._since_ms = dict.fromkeys(self._alarms, 0)
        """When each last fired with work; the times at which it may fire count from then."""

    def begin(self) -> None:
        """All periods begin now."""
        now_ms = self._client.elapsed()
        for tick in self._alarms:
            self._since_ms[tick] = now_ms
            self._client.spawn(tick.name.replace(" ", "-"), self._keep, tick)
        self.look()

    def look(self) -> None:
        """Set each alarm again. Call this whenever the time of the next work may have changed."""
        now_ms = self._client.elapsed()
        for tick, alarm in self._alarms.items():
            due_ms = tick.due_ms()
            if due_ms is None:
                alarm.set(None)
            else:
                # A real timer has work at the first end of a period that is not before the due
                # time: hence the division that rounds up. Firing at the due time itself would
                # order pods otherwise than the real scheduler does.
                since_ms = self._since_ms[tick]
                periods = -(-(due_ms - since_ms) // tick.period_ms)
                alarm.set(since_ms + periods * tick.period_ms - now_ms)

    def phases(self, now_ms: int) -> list[int]:
        """How far each timer is into its period, even if its alarm is not set."""
        return [(now_ms - self._since_ms[tick]) % tick.period_ms for tick in self._alarms]

    async def _keep(self, tick: Tick) -> None:
        while True:
            await self._alarms[tick].wait()
            now_ms = self._since_ms[tick] = self._client.elapsed()
            tick.do(now_ms)
            self.look()
