"""testbed search: many Runs of a scenario, and the races they show.

Only what its --help says is known here; what searches is loaded when it is called.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

import click

from testbed.cli.own import own_policies
from testbed.cli.show import EXIT_CODES
from testbed.search.effort import EFFORTS
from testbed.world.chooser_kinds import known


def _options(command: Callable[..., int]) -> Callable[..., int]:
    given = (
        click.option("--effort", default="quick", help=f"How much: {', '.join(EFFORTS)}."),
        click.option("--runs", type=click.IntRange(min=1), help="So many, and no more."),
        click.option("--seconds", type=click.FloatRange(min=0), help="Stop after so long."),
        click.option(
            "--chooser", help=f"This one alone: {', '.join(known())}, or your own module:Class."
        ),
        click.option("--seed", type=int, default=0, help="Another seed, other runs."),
        click.option("--jobs", type=click.IntRange(1, 256), default=1, help="Worker processes."),
        click.option("--faults", multiple=True, metavar="FAULT", help="Allow crash,restart=2s …"),
        click.option("--switch", "switches", multiple=True, metavar="K=V", help="Say guard=on, …"),
        click.option("--driver", default="direct", help="What carries the tasks."),
        click.option("--scenario-path", metavar="DIR", help="Where your own scenarios are."),
        click.option("--out", metavar="DIR", help="Where race files go, if not to races."),
        click.option("--ledger", metavar="FILE", help="Keep the search here, so it can go on."),
        click.option("--resume", is_flag=True, help="Go on with the search in the ledger."),
        click.option("--until-first", is_flag=True, help="Stop at the first race."),
        click.option("--json", "as_json", is_flag=True, help="One JSON object."),
        click.option("--junitxml", metavar="FILE", help="A testcase for each claim."),
    )
    for option in reversed(given):
        command = option(command)
    return own_policies(command)


@click.command("search", epilog=EXIT_CODES)
@click.argument("scenario")
@_options
def command(scenario: str, **given: Any) -> int:
    """Play many Runs of SCENARIO, and shrink each race they show to a race file.

    \b
    testbed search double_bind                        some hundreds of runs
    testbed search double_bind --switch guard=on      and the guard holds
    testbed search double_bind --faults crash --effort deep --jobs 2
    testbed search double_bind --ledger night.ledger --resume
    """
    code: int = import_module("testbed.cli.searching.search").search(scenario, **given)
    return code
