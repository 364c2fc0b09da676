"""Backoff: how long a Job waits after a failed pod before it creates the next (T-32)."""

from __future__ import annotations

FIRST_MS, LONGEST_MS = 10_000, 360_000


class Backoff:
    """The failures of each Job since its last success, by uid. A crash forgets them."""

    def __init__(self) -> None:
        self._failures: dict[str, tuple[int, int]] = {}
        """How many, and when the last one was noticed."""

    def note(self, uid: str, succeeded: int, failed: int, now_ms: int) -> None:
        """Count pods that have succeeded and failed. A success forgets the failures before it."""
        if succeeded:
            self._failures.pop(uid, None)
        elif failed:
            self._failures[uid] = (self._failures.get(uid, (0, 0))[0] + failed, now_ms)

    def left_ms(self, uid: str, now_ms: int) -> int:
        """How long the Job still has to wait."""
        times, last_ms = self._failures.get(uid, (0, 0))
        if not times:
            return 0
        return max(last_ms + min(FIRST_MS << min(times - 1, 10), LONGEST_MS) - now_ms, 0)

    def forget(self, uid: str) -> None:
        """Forget a Job that is over or gone."""
        self._failures.pop(uid, None)

    def digest(self, now_ms: int) -> object:
        """What it remembers; times count from now."""
        return [(uid, times, now_ms - at_ms) for uid, (times, at_ms) in self._failures.items()]
