"""The option `--policy FILE`: load policies of the user's own, so that switches can name them."""

from __future__ import annotations

import os
from collections.abc import Callable

import click

from testbed.policy import load
from testbed.world.users_code import OWN_LEVELS, levels_package


def own_policies(command: Callable[..., int]) -> Callable[..., int]:
    """Let a command take `--policy FILE`; each file is loaded before anything else is done."""

    def load_all(_: click.Context, __: click.Parameter, files: tuple[str, ...]) -> None:
        if files and OWN_LEVELS in os.environ:
            levels_package()  # an answer imports its level, which may be the user's own
        for file in files:
            load(file)

    return click.option(
        "--policy",
        multiple=True,
        metavar="FILE",
        expose_value=False,
        callback=load_all,
        help="Python file with a policy of your own, for a switch to name. Repeatable.",
    )(command)
