"""CoolDowns: how long no node is deleted after a scale-up, a deletion or a failure (CA-30)."""

from __future__ import annotations

from actors.autoscaler.settings import AutoscalerSettings

LONG_AGO_MS = 3_600_000
"""At the start, all is taken to have happened an hour ago."""


class CoolDowns:
    """When the cluster last grew, shrank, or failed to, in this life of the autoscaler."""

    def __init__(self, settings: AutoscalerSettings, now_ms: int) -> None:
        self._settings = settings
        self._added_ms = self._deleted_ms = self._failed_ms = now_ms - LONG_AGO_MS

    def added(self, now_ms: int) -> None:
        """A scale-up succeeded."""
        self._added_ms = now_ms

    def deleted(self, now_ms: int) -> None:
        """Deletions began. When they end does not matter, nor whether they succeed."""
        self._deleted_ms = now_ms

    def failed(self, now_ms: int) -> None:
        """A node could not be tainted. What fails later, beside the passes, does not count."""
        self._failed_ms = now_ms

    def are_on(self, now_ms: int) -> bool:
        """Whether nothing may be deleted now. At the very end of a cool-down it may."""
        settings = self._settings
        return (
            self._added_ms + settings.delay_after_add_ms > now_ms
            or self._failed_ms + settings.delay_after_failure_ms > now_ms
            or self._deleted_ms + settings.delay_after_delete_ms > now_ms
        )

    def digest(self, now_ms: int) -> object:
        """How long each still lasts."""
        settings = self._settings
        ends = (
            self._added_ms + settings.delay_after_add_ms,
            self._failed_ms + settings.delay_after_failure_ms,
            self._deleted_ms + settings.delay_after_delete_ms,
        )
        return tuple(max(end - now_ms, 0) for end in ends)
