"""Settings: what a number or a name among the settings of an actor may be, checked when it is made.

A negative delay or a period of 0 would otherwise show up deep within a Run, or not at all.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import attrs

from testbed.errors import ScenarioError, shown

Validator = Callable[[Any, "attrs.Attribute[Any]", Any], None]


def at_least(least: int, *, most: int | None = None, or_none: bool = False) -> Validator:
    """A whole number from `least` on, up to `most` if that is given; or None, where that is the
    default or is allowed."""

    def check(settings: object, field: attrs.Attribute[Any], value: object) -> None:
        may_be_none = or_none or field.default is None
        if value is None and may_be_none:
            return
        if type(value) is not int or value < least or (most is not None and value > most):
            to = "" if most is None else f" to {most}"
            none = ", or None" if may_be_none else ""
            usual = field.default if type(field.default) is int else max(least, 1000)
            _refuse(
                settings, field, value, f"a whole number from {least}{to}{none}",
                f"say {field.name}={usual}",
            )  # fmt: skip

    return check


def in_order(settings: object, least: str, most: str) -> None:
    """Refuse two numbers of which the first, by the names of their fields, is the larger."""
    low, high = getattr(settings, least), getattr(settings, most)
    if low > high:
        raise ScenarioError(
            f"{type(settings).__name__}.{least} is {low} and {most} is {high}: expected no more "
            f"than {high}.\nNext: say {least}={high}, or {most}={low}."
        )


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
