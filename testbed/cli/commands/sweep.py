"""testbed sweep: lets one fault strike at every operation of every actor, and shows a table."""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import attrs
import click
from click.core import ParameterSource

from testbed import policy
from testbed.cli.jobs import jobs_of, takes_jobs
from testbed.cli.limits import takes_limits
from testbed.cli.output import say
from testbed.cli.own import own_policies
from testbed.cli.playing import DRIVER, check_driver, parse_switches, placed
from testbed.cli.progress import counting
from testbed.cli.show import (
    EXIT_CODES,
    JSON,
    SCENARIO_PATH,
    SWITCH,
    as_dict,
    carried,
    in_columns,
    say_json,
)
from testbed.code.files import read_text, write_bytes
from testbed.errors import ScenarioError
from testbed.fault import Fault
from testbed.races.playing import race_of
from testbed.races.race import Expectation, Race
from testbed.races.trust import Trust, line_for, trust_in
from testbed.search.sweep import RUNS_MAX, WHENS, Cell, Swept, sweep
from testbed.words import counted
from testbed.world.fault_kinds import fault_of, parse_fault, parse_setting
from testbed.world.scenario import Scenario, find

NOWHERE = "·"
"""In the table: the fault could not strike there."""
FAULT = "The fault, such as crash, stall, or crash:alpha for one actor."
SETTING = "A setting of the fault, such as restart=2s or by=500ms. Repeatable."
MOST_RUNS = "The most Runs to play; the places after that are left out."
OUTCOMES = ("held", "violated", "undecided")


@click.command("sweep", epilog=EXIT_CODES)
@click.argument("scenario")
@click.option("--fault", "text", required=True, metavar="WORD[:TARGET]", help=FAULT)
@click.option("--restart-ms", type=click.IntRange(min=0), help="When a crashed actor starts again.")
@click.option("--with", "settings", multiple=True, metavar="K=V", help=SETTING)
@takes_limits
@click.option("--switch", "switches", multiple=True, metavar="K=V", help=SWITCH)
@click.option("--driver", default="direct", help=DRIVER)
@click.option("--runs-max", type=click.IntRange(min=1), default=RUNS_MAX, help=MOST_RUNS)
@click.option("--scenario-path", metavar="DIR", help=SCENARIO_PATH)
@own_policies
@click.option("--out", metavar="DIR", help="Write a race file here for each violated Run.")
@takes_jobs
@click.option("--json", "as_json", is_flag=True, help=JSON)
def command(
    scenario: str,
    text: str,
    restart_ms: int | None,
    settings: tuple[str, ...],
    switches: tuple[str, ...],
    driver: str,
    runs_max: int,
    scenario_path: str | None,
    out: str | None,
    jobs: int | None,
    as_json: bool,
) -> int:
    """Play the calm Run of SCENARIO again and again, and let one fault strike in each: at every
    operation of every actor in turn. SCENARIO may be your own, as FILE.py:function.

    A row is an operation that an actor asked for, a delivery that it read, or a timer of its own.
    The fault strikes it in up to three Runs:

    \b
    before   it is asked for, or due, and has had no effect yet
    after    it has taken effect, and its caller has no answer yet
    told     its caller has its answer, and has gone on to its next await

    A dot means that the fault cannot strike there. Exits 1 if a claim is violated.

    \b
    testbed sweep double_bind --fault crash --restart-ms 0
    testbed sweep double_bind --fault lose_reply:alpha
    testbed sweep double_bind --fault crash:store --restart-ms 100
    testbed sweep double_bind --fault stall --with by=5s
    """
    scenario, scenario_path = placed(scenario, scenario_path)
    check_driver(driver)
    recipe, given = find(scenario), parse_switches(switches)
    fault = _fault(text, restart_ms, settings)
    with counting("runs") as on_run:
        how: dict[str, Any] = {"driver": driver, "runs_max": runs_max, "jobs": jobs_of(jobs)}
        swept = sweep(recipe, fault, switches=given, on_run=on_run, **how)
    reds = _reds(recipe, given, swept)
    if out is None:
        again = [_with_out(click.get_current_context())] * len(reds)
    else:
        files = _write(Path(out), recipe, fault, reds)
        again = _again(files, trust_in(recipe.name, filter(None, [scenario_path])), driver)
    if as_json:
        say_json(_content(swept, given, reds, again))
    else:
        _show(swept, reds, again, is_written=out is not None)
    return 1 if reds else 3 if swept.of("undecided") or swept.left else 0


@attrs.frozen
class _Red:
    """One violated Run, as a Race."""

    cell: Cell
    race: Race

    @property
    def run(self) -> tuple[int, str]:
        """Names the Run: the fault's turn and target. Several places of the table may share it."""
        return self.cell.place.turn, self.cell.place.target


def _fault(text: str, restart_ms: int | None, settings: tuple[str, ...]) -> Fault:
    """The Fault that the command line describes; it may strike once in each Run."""
    fault = parse_fault(text)
    given: dict[str, Any] = attrs.asdict(fault)
    given.update(parse_setting(fault.word, setting) for setting in settings)
    if restart_ms is not None:
        given["restart_after_ms"] = restart_ms
    if fault.times_max != 1:
        raise ScenarioError(
            f"--fault {text}: a sweep strikes once in each Run.\n"
            f"Next: say --fault {text.rpartition('*')[2]}, without a number."
        )
    return fault_of(fault.word, **given)


def _reds(recipe: Scenario, switches: Mapping[str, Any], swept: Swept) -> list[_Red]:
    """The violated Runs as Races, each once, in the order of the table."""
    found: dict[tuple[int, str], _Red] = {}
    for cell in swept.of("violated"):
        if (cell.place.turn, cell.place.target) not in found:
            race = race_of(recipe, switches, cell.choices, faults=[swept.fault])
            expect = Expectation(violates=cell.verdict.violations[0].invariant)
            red = _Red(cell, attrs.evolve(race, expect=(expect,)))
            found[red.run] = red
    return list(found.values())


def _write(folder: Path, recipe: Scenario, fault: Fault, reds: list[_Red]) -> list[Path]:
    """Write a race file for each. A file that is there with another content is not overwritten."""
    name = re.sub(r"\W+", "_", recipe.name.rpartition(":")[2])
    files = [folder / f"{name}-{fault.word}-{n:02}.race.yaml" for n in range(1, len(reds) + 1)]
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for file, red in zip(files, reds, strict=True):
            text = red.race.text()
            if file.exists() and read_text(file) != text:
                raise ScenarioError(
                    f"--out {folder}: {file} is there already, and is another race.\n"
                    "Next: name a folder that is new."
                )
            write_bytes(file, text.encode())
    except OSError as error:
        raise ScenarioError(
            f"--out {folder}: cannot be written: {error.strerror}.\n"
            "Next: name a folder that can be made, on a disk with room."
        ) from error
    return files


def _again(files: list[Path], trust: Trust, driver: str) -> list[str]:
    options = carried(driver, audit=False)
    return [line_for("replay", str(file), trust, *options) for file in files]


def _with_out(context: click.Context) -> str:
    """The same command again, with the option to write race files."""
    words = ["testbed", "sweep", context.params["scenario"]]
    for option in context.command.params:
        value = context.params.get(option.name or "", ())
        is_given = context.get_parameter_source(option.name or "") is not ParameterSource.DEFAULT
        if is_given and option.name not in ("scenario", "out", "as_json"):
            for each in value if isinstance(value, tuple) else (value,):
                words += [option.opts[-1], str(each)]
    return shlex.join([*words, *policy.words(), "--out", "races"])


# -- showing ----------------------------------------------------------------------------------


def _show(swept: Swept, reds: list[_Red], again: list[str], *, is_written: bool) -> None:
    for line in _table(swept, [red.run for red in reds]):
        say(line)
    say(f"\n{_summary(swept)}")
    for number, red in enumerate(reds, 1):
        place = red.cell.place
        say(f"\n[{number}] {place.actor}, {place.when} {place.operation}:")
        for violation in red.cell.verdict.violations:
            say(f"    {violation}")
        if is_written:
            say(f"    Again: {again[number - 1]}")
    if reds and not is_written:
        say(f"\nThe first of them is this race:\n\n{reds[0].race.text()}")
        say(f"Again, with a file of each: {again[0]}")


def _table(swept: Swept, runs: list[tuple[int, str]]) -> list[str]:
    """A line for each row and target. A violated cell has the number of its Run."""
    rows: dict[tuple[int, str, str, str], dict[str, str]] = {}
    for cell in swept.cells:
        place = cell.place
        outcome = swept.outcome_of(cell)
        if cell.verdict.is_violated:
            outcome += f" [{runs.index((place.turn, place.target)) + 1}]"
        row = (place.step, place.actor, place.operation, place.target)
        rows.setdefault(row, {})[place.when] = outcome
    lines = [["actor", "operation", f"{swept.fault.word} of", *WHENS]]
    for (_, actor, operation, target), cells in rows.items():
        lines.append([actor, operation, target, *(cells.get(when, NOWHERE) for when in WHENS)])
    if all(re.split("[ /]", target)[0] == actor for _, actor, _, target in rows):
        # Every target is the actor of its row, or the row's request: the column would tell nothing.
        lines = [line[:2] + line[3:] for line in lines]
    return in_columns(lines)


def _summary(swept: Swept) -> str:
    runs, places = counted(swept.runs, "run"), counted(len(swept.cells), "place")
    outcomes = ", ".join(f"{len(found)} {o}" for o in OUTCOMES if (found := swept.of(o)))
    summary = f"{swept.fault.word}: {runs} for {places}: {outcomes}."
    if undecided := swept.of("undecided"):
        summary += f"\nUndecided: {undecided[0].verdict.why}."
    if swept.left:
        more = swept.runs * 10
        summary += f"\nLeft out: {counted(swept.left, 'place')}. Next: --runs-max {more}"
    return summary


def _content(
    swept: Swept, switches: Mapping[str, Any], reds: list[_Red], again: list[str]
) -> dict[str, Any]:
    """The table as `--json` shows it."""
    runs = [red.run for red in reds]
    cells = []
    for cell in swept.cells:
        line = as_dict(cell.verdict, **attrs.asdict(cell.place))
        line["verdict"] = swept.outcome_of(cell)
        if cell.verdict.is_violated:
            number = runs.index((cell.place.turn, cell.place.target))
            line |= {"race": reds[number].race.text(), "again": again[number]}
        cells.append(line)
    return {
        "scenario": swept.scenario,
        "switches": dict(switches),
        "fault": {"word": swept.fault.word, **attrs.asdict(swept.fault)},
        "calm": as_dict(swept.calm),
        "runs": swept.runs,
        "left_out": swept.left,
        **{outcome: len(swept.of(outcome)) for outcome in OUTCOMES},
        "cells": cells,
    }
