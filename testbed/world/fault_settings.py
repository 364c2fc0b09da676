"""Fault settings: their names in race files and on the command line; virtual durations as text."""

from __future__ import annotations

import re

import attrs

from testbed.errors import ScenarioError
from testbed.fault import Fault

MOMENTS = ("after", "before", "at")
"""When a race file lets a fault strike; no setting is called so."""
_DURATION = re.compile(r"(-?[0-9]{1,9}) ?(ms|s|m|h)")
_UNITS = {"ms": 1, "s": 1000, "m": 60_000, "h": 3_600_000}


def setting_fields(kind: type[Fault]) -> dict[str, str]:
    """The settings of a kind of fault: the name that people write, and the field that it sets.
    Those that every fault has come last."""
    shared = attrs.fields_dict(Fault)
    fields = [field.name for field in attrs.fields(kind) if field.name != "target"]
    ordered = sorted(fields, key=shared.__contains__)
    settings: dict[str, str] = {}
    for field in ordered:
        name = setting_name(field)
        if name in settings or name in ("", *MOMENTS):
            raise ScenarioError(
                f"{kind.__name__}.{field}: its setting would be called {name!r}, which "
                f"{f'is {settings[name]}' if name in settings else 'no setting can be called'}.\n"
                "Next: let the field begin with another word."
            )
        settings[name] = field
    return settings


def setting_name(field: str) -> str:
    """What people call this field of a fault: `restart` for `restart_after_ms`."""
    return field.partition("_")[0]


def is_duration(field: str) -> bool:
    """Whether people write this field of a fault as a duration."""
    return field.endswith("_ms")


def duration(ms: int) -> str:
    """A virtual duration as people write it: `5s`, `1500ms`."""
    return f"{ms // 1000}s" if ms and ms % 1000 == 0 else f"{ms}ms"


def parse_duration(text: str) -> int | None:
    """The milliseconds of `5s` or `100ms`; None if it is no duration."""
    match = _DURATION.fullmatch(text)
    return None if match is None else int(match[1]) * _UNITS[match[2]]
