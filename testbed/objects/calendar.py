"""The calendar: virtual milliseconds as the timestamps of the wire, counted from an epoch.

It is the same fixed date in every Run; but where real programs compare dates with those of the
wall, a Run may begin at another one, which its trace then keeps.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from datetime import UTC, datetime, timedelta
from functools import lru_cache

USUAL = datetime(2025, 1, 1, tzinfo=UTC)
"""The epoch, unless another one is named."""
EPOCH: ContextVar[datetime] = ContextVar("epoch", default=USUAL)
"""Virtual time 0, as it is written on the wire."""
_MS = timedelta(milliseconds=1)
_WRITTEN = re.compile(
    r"[0-9]{4}-[0-9]{2}-[0-9]{2}T([01][0-9]|2[0-3]):[0-9]{2}:[0-9]{2}(\.[0-9]{1,9})?"
    r"(Z|[+-][0-9]{2}:[0-9]{2})"
)


@contextmanager
def beginning_at(text: str) -> Iterator[None]:
    """Let virtual time begin at that date: `2026-11-24T15:00:00Z`; as usual if it is empty.
    ValueError if it is none."""
    begins = EPOCH.get() + read_whole(text) * _MS if text else USUAL
    token = EPOCH.set(begins)
    try:
        yield
    finally:
        EPOCH.reset(token)


def epoch_named() -> str:
    """The date at which virtual time begins; empty if it is the usual one."""
    return "" if EPOCH.get() == USUAL else written(0)


def whole_second(ms: int) -> int:
    """A time without its fraction, as fields of whole seconds have it (GEN-4)."""
    return ms // 1000 * 1000


def written(ms: int) -> str:
    """A time in whole seconds, as in most fields: `2025-01-01T00:00:30Z`."""
    return _written(EPOCH.get(), ms if type(ms) is int else int(ms), "seconds")


def written_fine(ms: int) -> str:
    """A time with its fraction, as in Leases and Events: `2025-01-01T00:00:30.250000Z`."""
    return _written(EPOCH.get(), ms if type(ms) is int else int(ms), "microseconds")


# A Run writes and reads the same few times over and over.
@lru_cache(4096)
def _written(epoch: datetime, ms: int, to: str) -> str:
    return f"{(epoch + ms * _MS).replace(tzinfo=None).isoformat(timespec=to)}Z"


def read(text: str) -> int:
    """The virtual time of a timestamp, negative before the epoch; ValueError if it is none."""
    return _read(EPOCH.get(), text)


@lru_cache(4096)
def _read(epoch: datetime, text: str) -> int:
    if _WRITTEN.fullmatch(text) is None:
        raise ValueError("a time such as 2025-01-01T00:00:30Z")
    try:
        return (datetime.fromisoformat(text).astimezone(UTC) - epoch) // _MS
    except OverflowError as error:
        raise ValueError("a time such as 2025-01-01T00:00:30Z") from error


def read_whole(text: str) -> int:
    """As `read`, without the fraction, for fields of whole seconds (GEN-4)."""
    return _read(EPOCH.get(), text) // 1000 * 1000
