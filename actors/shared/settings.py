"""Settings: what a number or a name among the settings of an actor may be, checked when it is made.

A negative delay or a period of 0 would otherwise show up deep within a Run, or not at all.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import attrs

from testbed.errors import ScenarioError, shown

Validator = Callable[[Any, "attrs.Attribute[Any]", Any], None]


def at_least(least: int) -> Validator:
    """A whole number from `least` on, or None where that is the default."""

    def check(settings: object, field: attrs.Attribute[Any], value: object) -> None:
        if value is None and field.default is None:
            return
        if type(value) is not int or value < least:
            none = ", or None" if field.default is None else ""
            usual = field.default if type(field.default) is int else max(least, 1000)
            _refuse(
                settings, field, value, f"a whole number from {least}{none}",
                f"say {field.name}={usual}",
            )  # fmt: skip

    return check


def names(settings: object, field: attrs.Attribute[Any], value: object) -> None:
    """A tuple of names: a text is none, though it could be taken for one of letters."""
    if type(value) is not tuple or not all(isinstance(each, str) for each in value):
        given = value if isinstance(value, str) else "n1"
        _refuse(settings, field, value, "a tuple of names", f"say ({given!r},), also for one")


def _refuse(
    settings: object, field: attrs.Attribute[Any], value: object, expected: str, step: str
) -> None:
    where = f"{type(settings).__name__}.{field.name}"
    raise ScenarioError(f"{where} is {shown(value)}: expected {expected}.\nNext: {step}.")
