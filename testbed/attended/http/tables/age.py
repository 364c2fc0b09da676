"""Age: how long something has lasted, as kubectl says it: `5s`, `3m10s`, `2d4h`."""

from __future__ import annotations

UNKNOWN, INVALID = "<unknown>", "<invalid>"
SECOND, MINUTE, HOUR, DAY, YEAR = 1, 60, 3600, 86400, 365 * 86400
STEPS = (
    (2 * MINUTE, SECOND, "s", 0, ""),
    (10 * MINUTE, MINUTE, "m", SECOND, "s"),
    (3 * HOUR, MINUTE, "m", 0, ""),
    (8 * HOUR, HOUR, "h", MINUTE, "m"),
    (2 * DAY, HOUR, "h", 0, ""),
    (8 * DAY, DAY, "d", HOUR, "h"),
    (2 * YEAR, DAY, "d", 0, ""),
    (8 * YEAR, YEAR, "y", DAY, "d"),
)
"""Below how many seconds it is said in which unit, and the rest of it in which smaller one."""


def duration(ms: int) -> str:
    """A duration in at most two units, the longer the coarser. A clock may be a second ahead, so
    that much below zero is `0s`; more of it makes no sense."""
    if ms <= -2000:
        return INVALID
    seconds = max(ms, 0) // 1000
    for below, unit, letter, smaller, other in STEPS:
        if seconds < below:
            rest = seconds % unit // smaller if smaller else 0
            return f"{seconds // unit}{letter}{f'{rest}{other}' if rest else ''}"
    return f"{seconds // YEAR}y"


def age(since_ms: int | None, now_ms: int) -> str:
    """How long ago that was; `<unknown>` if it is unset."""
    return UNKNOWN if since_ms is None else duration(now_ms - since_ms)
