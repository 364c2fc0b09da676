"""The calendar: virtual milliseconds as the timestamps of the wire, counted from a fixed epoch."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta

EPOCH = datetime(2025, 1, 1, tzinfo=UTC)
"""What virtual time 0 is called on the wire."""
_MS = timedelta(milliseconds=1)
_WRITTEN = re.compile(
    r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]{1,9})?(Z|[+-][0-9]{2}:[0-9]{2})"
)


def written(ms: int) -> str:
    """That time in whole seconds, as most fields have it: `2025-01-01T00:00:30Z`."""
    return (EPOCH + ms // 1000 * 1000 * _MS).strftime("%Y-%m-%dT%H:%M:%SZ")


def written_fine(ms: int) -> str:
    """That time with its fraction, as Leases and Events have it: `2025-01-01T00:00:30.250000Z`."""
    return (EPOCH + ms * _MS).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def read(text: str) -> int:
    """The virtual time that is written so, before the epoch if it is negative; ValueError."""
    if _WRITTEN.fullmatch(text) is None:
        raise ValueError("a time such as 2025-01-01T00:00:30Z")
    return (datetime.fromisoformat(text) - EPOCH) // _MS
