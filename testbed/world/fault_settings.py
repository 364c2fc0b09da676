"""Settings: what people call the settings of a fault, and how they write virtual durations."""

from __future__ import annotations

import re

_DURATION = re.compile(r"(-?[0-9]{1,9}) ?(ms|s|m|h)")
_UNITS = {"ms": 1, "s": 1000, "m": 60_000, "h": 3_600_000}
SETTINGS = {
    "restart": "restart_after_ms", "by": "by_ms", "for": "for_ms", "code": "code",
    "times": "times_max", "until": "until_ms",
}  # fmt: skip
"""What a race file, or a command line, calls the settings of a fault."""
DURATIONS = frozenset({"restart", "by", "for", "until"})


def duration(ms: int) -> str:
    """A virtual duration as people write it: `5s`, `1500ms`."""
    return f"{ms // 1000}s" if ms and ms % 1000 == 0 else f"{ms}ms"


def parse_duration(text: str) -> int | None:
    """The milliseconds of `5s` or `100ms`; None if it is no duration."""
    match = _DURATION.fullmatch(text)
    return None if match is None else int(match[1]) * _UNITS[match[2]]
