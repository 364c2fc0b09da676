"""Group backoff: after a failure a group is left alone, each time for longer (CA-23)."""

from __future__ import annotations

import attrs

from actors.autoscaler.settings import AutoscalerSettings


@attrs.frozen
class _Failure:
    at_ms: int
    lasts_ms: int

    @property
    def until_ms(self) -> int:
        return self.at_ms + self.lasts_ms


class GroupBackoff:
    """Which groups are left alone, and until when."""

    def __init__(self, settings: AutoscalerSettings) -> None:
        self._settings = settings
        self._failures: dict[str, _Failure] = {}

    def failed(self, group: str, now_ms: int) -> None:
        """A request for this group has failed. Only a failure after the last backoff has ended
        makes the next one twice as long: several at once count as one."""
        lasts_ms = self._settings.initial_backoff_ms
        last = self._failures.get(group)
        if last is not None:
            lasts_ms = last.lasts_ms
            # 1.26 doubles it only after that moment, and this is always so there: a pass takes
            # time, so that no later one begins in the very moment. Here it may.
            if last.until_ms <= now_ms:
                lasts_ms = min(2 * lasts_ms, self._settings.max_backoff_ms)
        self._failures[group] = _Failure(now_ms, lasts_ms)

    def is_on(self, group: str, now_ms: int) -> bool:
        """Whether the group is left alone now."""
        until_ms = self.until_ms(group)
        return until_ms is not None and until_ms > now_ms

    def until_ms(self, group: str) -> int | None:
        """Until when it is left alone; None if no failure is remembered."""
        last = self._failures.get(group)
        return None if last is None else last.until_ms

    def succeeded(self, group: str) -> None:
        """A request for this group was fulfilled."""
        self._failures.pop(group, None)

    def forgive(self, now_ms: int) -> None:
        """Forget failures that are long past."""
        reset_ms = self._settings.backoff_reset_ms
        for group, last in list(self._failures.items()):
            if last.at_ms + reset_ms < now_ms:
                del self._failures[group]

    def digest(self, now_ms: int) -> object:
        """What is remembered, with times as distances from now."""
        return [(g, last.until_ms - now_ms, last.lasts_ms) for g, last in self._failures.items()]
