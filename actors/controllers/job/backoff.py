"""Backoff: how long a Job waits after a failure until its next pod is created (T-32)."""

from __future__ import annotations

FIRST_MS, LONGEST_MS = 10_000, 360_000


class Backoff:
    """The failures in a row of each Job, by its uid. It is memory: a crash forgets it."""

    def __init__(self) -> None:
        self._failures: dict[str, tuple[int, int]] = {}
        """How many, and when the last one was noticed."""

    def note(self, uid: str, succeeded: int, failed: int, now_ms: int) -> None:
        """So many more pods have succeeded and failed. A success ends the row."""
        if succeeded:
            self._failures.pop(uid, None)
        elif failed:
            self._failures[uid] = (self._failures.get(uid, (0, 0))[0] + failed, now_ms)

    def left_ms(self, uid: str, now_ms: int) -> int:
        """How long the Job is still to wait."""
        times, last_ms = self._failures.get(uid, (0, 0))
        if not times:
            return 0
        return max(last_ms + min(FIRST_MS << min(times - 1, 10), LONGEST_MS) - now_ms, 0)

    def forget(self, uid: str) -> None:
        """The Job is over or gone."""
        self._failures.pop(uid, None)

    def digest(self, now_ms: int) -> object:
        """What it remembers; times count from now."""
        return [(uid, times, now_ms - at_ms) for uid, (times, at_ms) in self._failures.items()]
