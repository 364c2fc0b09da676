"""Looks: the instants at which a program looks at everything, one period apart.

Kubernetes looks at each of them. Here a look that can find nothing new is left out. All it changes
is that the World may come to rest.
"""

from __future__ import annotations

from testbed import Client


class Looks:
    """The looks of one life of a program. They keep step with its start."""

    def __init__(self, client: Client, name: str, period_ms: int) -> None:
        self._client = client
        self._period_ms = period_ms
        self._began_ms = client.elapsed()
        self._alarm = client.alarm(name)

    def phase_ms(self, now_ms: int) -> int:
        """How long the last instant was ago."""
        return (now_ms - self._began_ms) % self._period_ms

    def at_once(self) -> None:
        """Look now, whatever the time."""
        self._alarm.set(0)

    def soon(self, at_ms: int = 0) -> None:
        """Look at the first instant after now, not before that time; an earlier look stays."""
        now_ms = self._client.elapsed()
        in_ms = self._next_ms(at_ms, now_ms) - now_ms
        if self._alarm.due_ms is None or now_ms + in_ms < self._alarm.due_ms:
            self._alarm.set(in_ms)

    def only_at(self, at_ms: int | None) -> None:
        """Look at the first instant after now, not before that time; None: do not look. An earlier
        look is given up."""
        if at_ms is None:
            self._alarm.set(None)
            return
        now_ms = self._client.elapsed()
        self._alarm.set(self._next_ms(at_ms, now_ms) - now_ms)

    async def wait(self) -> None:
        """Wait for the next look."""
        await self._alarm.wait()

    def _next_ms(self, at_ms: int, now_ms: int) -> int:
        at_ms = max(at_ms, now_ms + 1)
        return at_ms + (self._began_ms - at_ms) % self._period_ms
