"""What the commands for race files share: which code may be run, and what each line matched."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import attrs
import click

from testbed.cli.own import own_policies
from testbed.cli.show import carried
from testbed.code.files import NEW, write_bytes
from testbed.errors import RaceRefused, ScenarioError
from testbed.races import yaml_lines as document
from testbed.races.expecting import Side, check_switches, expected_under
from testbed.races.race import Expectation, Hold, Race
from testbed.races.racefile import parse
from testbed.races.trust import Named, Trust, allowed, line_for, line_naming, trust_named
from testbed.world.scenario import Scenario

ENDINGS = (".race.yaml", ".race.yml", ".race.json")
"""The endings by which race files are found in a folder. A file that is named may be any YAML."""


@attrs.frozen
class NamedRace:
    """A race file that was read, and its scenario, which may be run."""

    path: str
    text: str
    race: Race
    recipe: Scenario
    trust: Trust

    def line(self, command: str = "replay", *more: str, driver: str = "trio") -> str:
        """The command to paste that does `command` to this file."""
        return line_for(command, self.path, self.trust, *carried(driver, False), *more)


def whose_code(command: Callable[..., int]) -> Callable[..., int]:
    """The options that allow a file to name code of the user's own, beside what is installed."""
    command = own_policies(command)
    folder = "Folder with scenarios of your own, which the file may name. Repeatable."
    scenario = "The scenario that the file names, if it is your own, as FILE.py:function."
    for option in (
        click.option("--scenario-path", "folders", multiple=True, metavar="DIR", help=folder),
        click.option("--scenario", help=scenario),
    ):
        command = option(command)
    return command


def trust_of(scenario: str | None, folders: tuple[str, ...]) -> Trust:
    """What these options allow."""
    return trust_named(scenario, folders)


def is_race(path: str) -> bool:
    """Whether a file is a race file, by its name."""
    return path.endswith((*ENDINGS, ".yaml", ".yml"))


def stem_of(path: str) -> str:
    """The path without the ending of a race file."""
    for end in (*ENDINGS, ".yaml", ".yml"):
        path = path.removesuffix(end)
    return path


def open_race(path: str, trust: Trust, command: str = "replay") -> NamedRace:
    """Read a race file, and find its scenario; nothing is imported unless it may be run."""
    text = document.read(path, RaceRefused)
    race = parse(text, path)
    where = f"{path}, line {race.line}"
    again = line_naming(command, path, race.scenario)
    named = Named(race.scenario, where, f"{where} names", again, RaceRefused)
    recipe = allowed(named, trust)
    check_switches(race, recipe, path)
    return NamedRace(path, text, race, recipe, trust)


def side_of(file: NamedRace, given: Mapping[str, str]) -> Expectation | None:
    """The entry of `expect:` to play: the one with the given switches, or else the first."""
    if not given:
        return file.race.expect[0] if file.race.expect else None
    return expected_under(file.race, file.recipe, given)


def write_new(path: Path, text: str, next_step: str) -> None:
    """Write a new file. One that is there already is never overwritten: a person may have edited
    it."""
    try:
        write_bytes(path, text.encode(), NEW)
    except FileExistsError as error:
        raise ScenarioError(f"{path}: is there already.\nNext: {next_step}") from error
    except OSError as error:
        raise ScenarioError(
            f"{path}: cannot be written: {error.strerror}.\n"
            "Next: name a file in a folder that exists, on a disk with room."
        ) from error


def notes(side: Side, path: str) -> Iterator[str]:
    """What a reader should know of the lines, asked or not: those that matched nothing, then the
    notes on the others."""
    yield from _unmatched(side, path)
    yield from notes_on_matched(side, path)


def _unmatched(side: Side, path: str) -> Iterator[str]:
    for fate in side.unmatched:
        where = f"{path}, line {fate.deviation.line}"
        yield f"{where}: {fate.deviation} matched nothing{side.closest(fate)}."


def notes_on_matched(side: Side, path: str) -> Iterator[str]:
    """Lines that matched something unexpected, holds that expired, and lines that several tasks
    match."""
    for fate in side.played.fates:
        where = f"{path}, line {fate.deviation.line}"
        if fate.matched and (stranger := side.stranger(fate)):
            yield f"{where}: {stranger}."
        if fate.expired and isinstance(fate.deviation, Hold) and fate.deviation.until is not None:
            until = fate.deviation.until_text
            why = f"nothing else could happen before {until}"
            if side.played.verdict.attended:
                why = f"the programs fell silent before {until}"
            yield f"{where}: hold expired: {why}."
        for said, tasks in side.played.ambiguous(fate).items():
            yield f"{where}: `{said}` is said of {' and of '.join(tasks)}; write the task."


def matches(side: Side) -> Iterator[str]:
    """Each line, and what it matched."""
    for fate in side.played.fates:
        line = f"line {fate.deviation.line}: {fate.deviation}"
        if not fate.matched:
            yield f"{line}\n    matched nothing{side.closest(fate)}"
        else:
            times = "" if fate.times == 1 else f", {fate.times} times" if fate.times else (
                ", and made no difference: what it waits for had come"
            )  # fmt: skip
            yield f"{line}\n    matched {fate.matched}{times}"


def refuse_stale(side: Side, path: str, next_line: str, *, is_told: bool = False) -> None:
    """Raise RaceRefused for lines that matched nothing where a breach is expected. If `is_told`,
    the lines have been shown already, and only their numbers are named."""
    if side.is_stale:
        lines = "\n".join(_unmatched(side, path))
        if is_told:
            numbers = ", ".join(f"line {fate.deviation.line}" for fate in side.unmatched)
            lines = f"{path}: matched nothing: {numbers}."
        raise RaceRefused(f"{lines}\nNext: mend the line, or look for it: {next_line}")


def side_as_dict(side: Side) -> dict[str, Any]:
    """What each line matched, as `--json` shows it."""
    expected = side.expected
    return {
        "expected": None if expected is None else str(expected),
        "as_expected": None if expected is None else side.is_met,
        "lines": [
            {
                "line": fate.deviation.line,
                "says": str(fate.deviation),
                "matched": fate.matched,
                "times": fate.times,
                "expired": fate.expired,
                "closest": "" if fate.matched else side.played.closest(fate),
            }
            for fate in side.played.fates
        ],
    }
