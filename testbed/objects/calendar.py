"""The calendar: virtual milliseconds as the timestamps of the wire, counted from a fixed epoch."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta

EPOCH = datetime(2025, 1, 1, tzinfo=UTC)
"""Virtual time 0, as it is written on the wire."""
_MS = timedelta(milliseconds=1)
_WRITTEN = re.compile(
    r"[0-9]{4}-[0-9]{2}-[0-9]{2}T([01][0-9]|2[0-3]):[0-9]{2}:[0-9]{2}(\.[0-9]{1,9})?"
    r"(Z|[+-][0-9]{2}:[0-9]{2})"
)


def whole_second(ms: int) -> int:
    """A time without its fraction, as fields of whole seconds have it (GEN-4)."""
    return ms // 1000 * 1000


def written(ms: int) -> str:
    """A time in whole seconds, as in most fields: `2025-01-01T00:00:30Z`."""
    return _written(ms, "seconds")


def written_fine(ms: int) -> str:
    """A time with its fraction, as in Leases and Events: `2025-01-01T00:00:30.250000Z`."""
    return _written(ms, "microseconds")


def _written(ms: int, to: str) -> str:
    return f"{(EPOCH + ms * _MS).replace(tzinfo=None).isoformat(timespec=to)}Z"


def read(text: str) -> int:
    """The virtual time of a timestamp, negative before the epoch; ValueError if it is none."""
    if _WRITTEN.fullmatch(text) is None:
        raise ValueError("a time such as 2025-01-01T00:00:30Z")
    try:
        return (datetime.fromisoformat(text).astimezone(UTC) - EPOCH) // _MS
    except OverflowError as error:
        raise ValueError("a time such as 2025-01-01T00:00:30Z") from error


def read_whole(text: str) -> int:
    """As `read`, without the fraction, for fields of whole seconds (GEN-4)."""
    return whole_second(read(text))
