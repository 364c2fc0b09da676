"""Back-off: how long a container that has ended waits until it is started again (KUB-17)."""

from __future__ import annotations

FIRST_MS, MOST_MS = 10_000, 300_000
"""The second restart waits for `FIRST_MS`, each later one twice as long, up to `MOST_MS`."""
STABLE_MS = 2 * MOST_MS
"""A container that has run for longer than this is restarted at once again."""


class BackOff:
    """The back-off of one pod's containers, in the memory of its kubelet: a crash forgets it.

    The first restart is at once. So is the first one after the containers have run for long.
    """

    def __init__(self) -> None:
        self.wait_ms = 0
        """How long the next restart waits, from the end of the containers; 0: not at all."""
        self._restarted_ms = 0

    def digest(self, now_ms: int) -> object:
        """What it remembers, with times as distances from now."""
        ran_ms = min(now_ms - self._restarted_ms, STABLE_MS + 1)
        return self.wait_ms, ran_ms if self.wait_ms else 0

    def due_ms(self, ended_ms: int) -> int:
        """When containers that ended at `ended_ms` may be started again."""
        return ended_ms + (0 if self._is_forgotten(ended_ms) else self.wait_ms)

    def restarted(self, ended_ms: int, now_ms: int) -> None:
        """Containers that ended at `ended_ms` were started again: the next restart waits longer."""
        if self._is_forgotten(ended_ms) or not self.wait_ms:
            self.wait_ms = FIRST_MS
        else:
            self.wait_ms = min(2 * self.wait_ms, MOST_MS)
        self._restarted_ms = now_ms

    def _is_forgotten(self, ended_ms: int) -> bool:
        return ended_ms - self._restarted_ms > STABLE_MS
