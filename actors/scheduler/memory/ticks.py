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

NEVER_MS = 2**63
"""Later than any time."""


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
    is_idle: bool = False
    """Whether a Run may end without it."""


class _Kept:
    """One periodic timer that runs."""

    __slots__ = ("alarm", "at_ms", "due_ms", "since_ms", "tick")

    def __init__(self, tick: Tick, client: Client) -> None:
        self.tick = tick
        self.alarm = client.alarm(tick.name, idle=tick.is_idle)
        self.since_ms = 0
        """When it last fired with work; the times at which it may fire count from then."""
        self.due_ms: int | None = None
        """The due time for which the alarm is set; None: it is not set."""
        self.at_ms = NEVER_MS
        """When the alarm goes off."""

    def begin(self, now_ms: int) -> None:
        """Its period begins now, and it waits for no work that was seen before."""
        self.since_ms, self.due_ms, self.at_ms = now_ms, None, NEVER_MS

    def look(self, due_ms: int | None, now_ms: int) -> None:
        """Set the alarm for work that is due then."""
        self.due_ms = due_ms
        if due_ms is None:
            self.at_ms = NEVER_MS
            self.alarm.set(None)
        else:
            # A real timer has work at the first end of a period that is not before the due time:
            # hence the division that rounds up. Firing at the due time itself would order pods
            # otherwise than the real scheduler does.
            since_ms, period_ms = self.since_ms, self.tick.period_ms
            self.at_ms = since_ms - (since_ms - due_ms) // period_ms * period_ms
            self.alarm.set(self.at_ms - now_ms)


class Ticks:
    """Keeps periodic timers, each with an alarm set to the first period that has work."""

    def __init__(self, client: Client, ticks: Iterable[Tick]) -> None:
        self._client = client
        self._kept = [_Kept(tick, client) for tick in ticks]
        self.first_ms = NEVER_MS
        """When the first of the alarms goes off. From then on each look sets that one to now."""

    def begin(self) -> None:
        """All periods begin now."""
        now_ms = self._client.elapsed()
        for kept in self._kept:
            kept.begin(now_ms)
            self._client.spawn(kept.tick.name.replace(" ", "-"), self._keep, kept)
        self.look(now_ms)

    def look(self, now_ms: int) -> None:
        """Set each alarm again. Call this whenever the time of the next work may have changed."""
        first_ms = NEVER_MS
        for kept in self._kept:
            due_ms = kept.tick.due_ms()
            # Most looks find an alarm set as it should be. One that is late is set again, to now.
            if due_ms != kept.due_ms or now_ms > kept.at_ms:
                kept.look(due_ms, now_ms)
            if kept.at_ms < first_ms:
                first_ms = kept.at_ms
        self.first_ms = first_ms

    def phases(self, now_ms: int) -> list[int]:
        """How far each timer is into its period, even if its alarm is not set."""
        return [(now_ms - kept.since_ms) % kept.tick.period_ms for kept in self._kept]

    async def _keep(self, kept: _Kept) -> None:
        while True:
            await kept.alarm.wait()
            now_ms = self._client.elapsed()
            kept.begin(now_ms)
            kept.tick.do(now_ms)
            self.look(now_ms)
