"""Ticks: timers on a grid, which come at the times of the real ones, but only with cause.

The real scheduler looks each second who has been left alone for long enough, and each thirty who
has waited for news for too long. Here the same ticks come where there will be something to do; all
others would do nothing, and keep a World going that is at rest.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

import attrs

from testbed import Client


@attrs.frozen
class Tick:
    """One timer of the grid."""

    name: str
    """How a race file speaks of it: `flush backoff`."""
    period_ms: int
    due_ms: Callable[[], int | None]
    """When there will be something to do; None: never, as things are."""
    do: Callable[[int], object]
    """Called with the time."""


class Ticks:
    """Keeps the grid, and on it each timer set to the first tick that is needed."""

    def __init__(self, client: Client, ticks: Iterable[Tick]) -> None:
        self._client = client
        self._alarms = {tick: client.alarm(tick.name) for tick in ticks}
        self._since_ms = 0

    def begin(self) -> None:
        """The grid begins now."""
        self._since_ms = self._client.elapsed()
        for tick in self._alarms:
            self._client.spawn(tick.name.replace(" ", "-"), self._keep, tick)
        self.look()

    def look(self) -> None:
        """Set the timers by what there will be to do; called when that may have changed."""
        now_ms = self._client.elapsed()
        for tick, alarm in self._alarms.items():
            due_ms = tick.due_ms()
            if due_ms is None:
                alarm.set(None)
            else:
                periods = -(-(due_ms - self._since_ms) // tick.period_ms)
                alarm.set(self._since_ms + periods * tick.period_ms - now_ms)

    def phases(self, now_ms: int) -> list[int]:
        """How far each timer is in its period, whether it is set or not."""
        return [(now_ms - self._since_ms) % tick.period_ms for tick in self._alarms]

    async def _keep(self, tick: Tick) -> None:
        while True:
            await self._alarms[tick].wait()
            tick.do(self._client.elapsed())
            self.look()
