"""Seat of a level: the part of its World that a student's class takes, by one switch."""

from __future__ import annotations

import attrs

from testbed.policy import part
from testbed.switches import Component

PROGRAM = "program"
"""The switch that names the class: `--switch clerk.program=MyClerk`."""


@attrs.frozen
class SeatSwitches:
    """The one switch of such a part."""

    program: str = part("program", "a class with a `run`", "run", takes="name")
    """The program that runs in place of the careless one."""


def seat(name: str) -> Component:
    """The component of that name, which has no switch but the program that runs in its place."""
    return Component(name, SeatSwitches, program=PROGRAM)


def switch_of(component: Component) -> str:
    """The full name of that switch."""
    return f"{component.name}.{PROGRAM}"
