"""The option `--limit NAME=N`: a limit of the World, which is a switch of it (`limit.NAME`)."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

import click

from testbed.errors import ScenarioError
from testbed.world.budget import LIMIT

LIMITS = "Set a limit of the Run, such as until_ms=45s. Repeatable."


def takes_limits(command: Callable[..., int]) -> Callable[..., int]:
    """Let a command that takes `--switch` take `--limit`, too."""

    @wraps(command)
    def limited(limits: tuple[str, ...], switches: tuple[str, ...], **given: Any) -> int:
        return command(switches=(*switches, *map(as_switch, limits)), **given)

    return click.option("--limit", "limits", multiple=True, metavar="NAME=N", help=LIMITS)(limited)


def as_switch(text: str) -> str:
    """The switch that a `--limit` stands for, as `--switch` would be given it."""
    if "=" not in text.strip("="):
        raise ScenarioError(
            f"--limit {text}: expected NAME=N.\nNext: say --limit until_ms=45s, or another limit."
        )
    return f"{LIMIT}.{text}"
