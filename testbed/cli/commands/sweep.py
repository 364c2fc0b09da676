"""testbed sweep: one fault at every operation of every actor, as a table."""

from __future__ import annotations

import re
import shlex
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import attrs
import click
from click.core import ParameterSource

from testbed import policy
from testbed.cli.own import own_policies
from testbed.cli.playing import check_driver, parse_switches
from testbed.cli.progress import counting
from testbed.cli.show import EXIT_CODES, as_dict, carried, say, say_json
from testbed.errors import ScenarioError
from testbed.fault import Fault
from testbed.races.playing import race_of
from testbed.races.race import Expectation, Race
from testbed.races.trust import Trust, line_for, trust_in
from testbed.search.sweep import RUNS_MAX, WHENS, Cell, Swept, sweep
from testbed.turns.session import DRIVERS
from testbed.words import counted
from testbed.world.fault_kinds import fault_of, parse_fault, parse_setting
from testbed.world.scenario import Scenario, find

NOWHERE = "·"
"""In the table: there the fault could not strike."""
OUTCOMES = ("held", "violated", "undecided")


@click.command("sweep", epilog=EXIT_CODES)
@click.argument("scenario")
@click.option("--fault", "text", required=True, metavar="WORD[:TARGET]", help="crash, stall, …")
@click.option("--restart-ms", type=click.IntRange(min=0), help="A crashed one starts again then.")
@click.option("--with", "settings", multiple=True, metavar="K=V", help="restart=2s, by=500ms, …")
@click.option("--switch", "switches", multiple=True, metavar="K=V", help="Say guard=on, …")
@click.option("--driver", default="direct", help=f"What carries the tasks: {', '.join(DRIVERS)}.")
@click.option(
    "--runs-max", type=click.IntRange(min=1), default=RUNS_MAX, help="Leave out places after that."
)
@click.option("--scenario-path", metavar="DIR", help="Where your own module:function is.")
@own_policies
@click.option("--out", metavar="DIR", help="Write a race file for each violated Run here.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object.")
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
    as_json: bool,
) -> int:
    """Let one fault strike at every operation of every actor of the calm run of SCENARIO, once in
    each Run; all else stays calm.

    A row is an operation that an actor asked for, a delivery it read, or a timer of its own. The
    fault strikes there up to three times:

    \b
    before   it is announced, or due, and has had no effect yet
    after    it has taken effect, and its caller has not been told
    told     its caller has been told, and has gone on to its next await

    A dot says that the fault cannot strike there. Exits 1 if a place is violated.

    \b
    testbed sweep double_bind --fault crash --restart-ms 0
    testbed sweep double_bind --fault lose_reply:alpha
    testbed sweep double_bind --fault crash:store --restart-ms 100
    testbed sweep double_bind --fault stall --with by=5s
    """
    sys.path[:0] = [scenario_path] if scenario_path else []
    check_driver(driver)
    recipe, given = find(scenario), parse_switches(switches)
    fault = _fault(text, restart_ms, settings)
    with counting("runs") as on_run:
        swept = sweep(
            recipe, fault, switches=given, driver=driver, runs_max=runs_max, on_run=on_run
        )
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
    """One violated Run, and the Race it is."""

    cell: Cell
    race: Race

    @property
    def run(self) -> tuple[int, str]:
        """Which Run it is; the places of one turn share it."""
        return self.cell.place.turn, self.cell.place.target


def _fault(text: str, restart_ms: int | None, settings: tuple[str, ...]) -> Fault:
    """The Fault of the command line; a sweep strikes once in each Run."""
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
    """The violated Runs as Races, each once, in the order of their first cells."""
    found: dict[tuple[int, str], _Red] = {}
    for cell in swept.of("violated"):
        if (cell.place.turn, cell.place.target) not in found:
            race = race_of(recipe, switches, cell.choices, faults=[swept.fault])
            expect = Expectation(violates=cell.verdict.violations[0].invariant)
            red = _Red(cell, attrs.evolve(race, expect=(expect,)))
            found[red.run] = red
    return list(found.values())


def _write(folder: Path, recipe: Scenario, fault: Fault, reds: list[_Red]) -> list[Path]:
    """A race file for each; one that is there already, and says something else, is kept."""
    name = re.sub(r"\W+", "_", recipe.name.rpartition(":")[2])
    files = [folder / f"{name}-{fault.word}-{n:02}.race.yaml" for n in range(1, len(reds) + 1)]
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for file, red in zip(files, reds, strict=True):
            text = red.race.text()
            if file.exists() and file.read_text(encoding="utf-8") != text:
                raise ScenarioError(
                    f"--out {folder}: {file} is there already, and is another race.\n"
                    "Next: name a folder that is new."
                )
            file.write_text(text, encoding="utf-8")
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
    """The same command again, writing race files."""
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
    """A line for each row and target; a violated cell bears the number of its Run."""
    rows: dict[tuple[int, str, str, str], dict[str, str]] = {}
    for cell in swept.cells:
        place = cell.place
        said = cell.verdict.outcome
        if cell.verdict.is_violated:
            said += f" [{runs.index((place.turn, place.target)) + 1}]"
        row = (place.step, place.actor, place.operation, place.target)
        rows.setdefault(row, {})[place.when] = said
    lines = [["actor", "operation", f"{swept.fault.word} of", *WHENS]]
    for (_, actor, operation, target), cells in rows.items():
        lines.append([actor, operation, target, *(cells.get(when, NOWHERE) for when in WHENS)])
    if all(re.split("[ /]", target)[0] == actor for _, actor, _, target in rows):
        # Each strikes the actor of its row, or the request that the row is.
        lines = [line[:2] + line[3:] for line in lines]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    padded = (zip(line, widths, strict=True) for line in lines)
    return ["  ".join(text.ljust(width) for text, width in line).rstrip() for line in padded]


def _summary(swept: Swept) -> str:
    runs, places = counted(swept.runs, "run"), counted(len(swept.cells), "place")
    outcomes = ", ".join(f"{len(found)} {o}" for o in OUTCOMES if (found := swept.of(o)))
    said = f"{swept.fault.word}: {runs} for {places}: {outcomes}."
    if undecided := swept.of("undecided"):
        said += f"\nUndecided: {undecided[0].verdict.end}."
    if swept.left:
        more = swept.runs * 10
        said += f"\nLeft out: {counted(swept.left, 'place')}. Next: --runs-max {more}"
    return said


def _content(
    swept: Swept, switches: Mapping[str, Any], reds: list[_Red], again: list[str]
) -> dict[str, Any]:
    """The table as `--json` shows it."""
    runs = [red.run for red in reds]
    cells = []
    for cell in swept.cells:
        line = as_dict(cell.verdict, **attrs.asdict(cell.place))
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
