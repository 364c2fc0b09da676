"""The option by which a user names the files of his own policies, for switches to name those."""

from __future__ import annotations

from collections.abc import Callable

import click

from testbed.policy import load


def own_policies(command: Callable[..., int]) -> Callable[..., int]:
    """Let a command take `--policy FILE`, and load it before anything else is done."""

    def load_all(_: click.Context, __: click.Parameter, files: tuple[str, ...]) -> None:
        for file in files:
            load(file)

    return click.option(
        "--policy",
        multiple=True,
        metavar="FILE",
        expose_value=False,
        callback=load_all,
        help="Where a policy of your own stands, which a switch names; as often as you like.",
    )(command)
