"""testbed search: plays many Runs of a scenario, and writes a file for each race they show.

Here stand only its options; the search itself is imported when it is called, so --help is fast.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from math import isnan
from typing import Any

import click

from testbed.cli.attaching.programs import takes_programs
from testbed.cli.jobs import takes_jobs
from testbed.cli.own import own_policies
from testbed.cli.show import EXIT_CODES, FAULTS, JSON, SCENARIO_PATH, SWITCH
from testbed.errors import ScenarioError
from testbed.search.effort import EFFORTS
from testbed.world.chooser_kinds import known

RUNS = "Play at most this many Runs, whatever --effort allows."
PAGE = "Also write a page of each race into this folder, and a list of them."
SECONDS = click.FloatRange(min=0)
CHOOSER = f"Let only this one decide: {', '.join(known())}, or your own FILE.py:Class."


def _number(_: click.Context, __: click.Parameter, value: float | None) -> float | None:
    """The number, unless it is the one that is none."""
    if value is not None and isnan(value):
        raise ScenarioError("--seconds nan: expected a number.\nNext: --seconds 60")
    return value


def _options(command: Callable[..., int]) -> Callable[..., int]:
    given = (
        click.option("--effort", default="quick", help=f"How far to look: {', '.join(EFFORTS)}."),
        click.option("--runs", type=click.IntRange(min=1), help=RUNS),
        click.option("--seconds", type=SECONDS, callback=_number, help="Stop after this many."),
        click.option("--chooser", help=CHOOSER),
        click.option("--seed", type=int, default=0, help="Seed of the random choices."),
        click.option("--faults", multiple=True, metavar="FAULT", help=FAULTS),
        click.option("--switch", "switches", multiple=True, metavar="K=V", help=SWITCH),
        click.option("--driver", default="direct", help="How actors are run: trio, direct."),
        click.option("--scenario-path", metavar="DIR", help=SCENARIO_PATH),
        click.option("--out", metavar="DIR", help="Folder for the race files, if not `races`."),
        click.option("--ledger", metavar="FILE", help="Record the search here, for --resume."),
        click.option("--resume", is_flag=True, help="Go on with the search in the ledger."),
        click.option("--until-first", is_flag=True, help="Stop at the first race."),
        click.option("--page", metavar="DIR", help=PAGE),
        click.option("--json", "as_json", is_flag=True, help=JSON),
        click.option("--junitxml", metavar="FILE", help="Write a JUnit test case for each claim."),
    )
    command = takes_programs(command)
    for option in reversed(given):
        command = option(command)
    return own_policies(takes_jobs(command))


@click.command("search", epilog=EXIT_CODES)
@click.argument("scenario")
@_options
def command(scenario: str, **given: Any) -> int:
    """Play many Runs of SCENARIO. Shrink each race that they show, and save it as a race file.

    SCENARIO is a name from `testbed list`, or your own as FILE.py:function.

    \b
    testbed search double_bind                        some hundreds of Runs
    testbed search double_bind --switch guard=on      with its guard on it must hold
    testbed search double_bind --faults crash --effort deep
    testbed search double_bind --ledger night.ledger --resume
    testbed search double_bind --page pages           a page of each race, to look at
    testbed search double_bind --as alpha,beta='./my-scheduler --name {name}'
    """
    code: int = import_module("testbed.cli.searching.search").search(scenario, **given)
    return code
