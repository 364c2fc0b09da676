"""testbed keep: turns a race that was found into a test of both sides of its guard."""

from __future__ import annotations

import shlex
from itertools import count
from pathlib import Path
from typing import Any

import click

from testbed.cli.output import say
from testbed.cli.races import (
    ENDINGS,
    NamedRace,
    notes,
    open_race,
    refuse_stale,
    stem_of,
    trust_of,
    whose_code,
    write_new,
)
from testbed.cli.show import EXIT_CODES, JSON, say_json
from testbed.code.files import read_bytes
from testbed.errors import RaceRefused, ScenarioError
from testbed.races.expecting import Side, both_sides, pair_of
from testbed.races.racefile import parse
from testbed.races.rewriting import kept
from testbed.races.trust import line_for
from testbed.turns.verdict import UNTRIED

FOLDER = "tests"
"""Where a race is kept by default."""


GREEN, RED = 0, 1


@click.command("keep", epilog=f"0 kept and green, 1 kept and red, 2 not kept. {EXIT_CODES}")
@click.argument("file")
@whose_code
@click.option("--out", metavar="DIR", help="Folder to write to, if not `tests`; made if missing.")
@click.option("--json", "as_json", is_flag=True, help=JSON)
def command(
    file: str, scenario: str | None, folders: tuple[str, ...], out: str | None, as_json: bool
) -> int:
    """Turn the race FILE, which expects a violation, into a new file that is a test of both sides:
    with the guard off the race must happen, and with the guard on the claim must hold.

    So it is red only when one of the two changes. If the scenario has no guard, the claim must
    hold: the test fails until the code is fixed. Comments are kept. No file is overwritten: in
    `tests`, it gets another name if its own is taken. Exits 1 if the new test is red as things are,
    such as when the race happens with the guard on, too.
    """
    trust = trust_of(scenario, folders)
    opened = open_race(file, trust, "keep")
    race, recipe = opened.race, opened.recipe
    if not any(side.violates for side in race.expect):
        raise RaceRefused(
            f"{file}: expects no breach, so there is nothing to turn round.\n"
            f"Next: {opened.line('check')}"
        )
    for side in both_sides(race, recipe, file, keep=False):
        refuse_stale(side, file, opened.line("replay", "--heal"))
    text = kept(opened.text, file, pair_of(race, recipe, file))
    pair = both_sides(parse(text, file), recipe, file, keep=False)
    _refuse_mended(pair, opened)
    path = _place(opened, out, text)
    write_new(path, text, opened.line("keep"))
    check = line_for("check", str(path), trust)
    red = next((side for side in pair if not side.is_met), None)
    if as_json:
        sides = [_as_dict(side) for side in pair]
        say_json({"file": str(path), "is_green": red is None, "sides": sides, "again": check})
        return GREEN if red is None else RED
    _tell(pair, path, file)
    say(f"pytest collects it with your tests (`pytest {shlex.quote(str(path))}`). By hand: {check}")
    if red is None:
        return GREEN
    what = f"why {_why_open(red)}" if _is_open(red) else "how it breaks, and mend it"
    say(f"Next: see {what}: {line_for('replay', str(path), trust, *_set(red))}")
    return RED


def _refuse_mended(pair: list[Side], opened: NamedRace) -> None:
    """Refuse a pair in which the race does not happen with the guard off: it shows no guard."""
    for side in pair:
        if (expected := side.expected) is not None and expected.violates and not side.is_met:
            raise RaceRefused(
                f"{opened.path}: {_said(side)}. A pair whose race does not happen tests nothing.\n"
                f"Next: {opened.line('replay', *_set(side))}"
            )


def _set(side: Side) -> list[str]:
    """The options that set the switches of a side."""
    given = side.expected.switches if side.expected is not None else {}
    return [word for name, value in given.items() for word in ("--switch", f"{name}={value}")]


def _tell(pair: list[Side], path: Path, file: str) -> None:
    """Say what the new file expects, and whether it is so already."""
    red = [side for side in pair if not side.is_met]
    is_pair = any(side.expected is not None and side.expected.violates for side in pair)
    if is_pair and not red:
        now = _how_green(pair)
    elif is_pair:
        is_open = all(map(_is_open, red))
        now = f"red, {_why_open(red[0])}" if is_open else "red, the guard does not hold"
    else:
        now = "red, the code is to be mended" if red else (
            "green already: the race does not happen any more"
        )  # fmt: skip
    say(f"Kept as {path}: {now}.")
    for side in pair:
        say(f"    {_said(side)}")
        for note in notes(side, str(path)):
            say(f"        {note}")
    if not is_pair and not Path(file).samefile(path):
        say(f"{file} expects the breach still: remove it before your code is mended.")


def _how_green(pair: list[Side]) -> str:
    """How much a green pair tests: a side in which lines match nothing may stay green when it
    changes, for the race may then need other lines."""
    idle = [side for side in pair if side.unmatched]
    if not idle:
        return "green, and red when either side changes"
    under = " and ".join(
        str(side.expected.under or side.expected) for side in idle if side.expected
    )
    return f"green, but {under} may change unnoticed: lines of the file match nothing there"


def _said(side: Side) -> str:
    """One side in a line: `guard=on: holds no_name_is_lost, as expected`."""
    expected = side.expected
    assert expected is not None
    under = f"{expected.under}: " if expected.under else ""
    if _is_open(side):
        return f"{under}{expected}, NOT as expected: {side.played.verdict}"
    return f"{under}{expected}, {'as expected' if side.is_met else 'NOT as expected'}"


def _is_open(side: Side) -> bool:
    """Whether its Run says nothing: it was cut off at a limit, or nothing was tried in it."""
    return side.played.verdict.outcome == "undecided"


def _why_open(side: Side) -> str:
    """Why its Run says nothing, in a few words."""
    return UNTRIED if side.played.verdict.nothing else "it comes to no end"


def _as_dict(side: Side) -> dict[str, Any]:
    expected = side.expected
    assert expected is not None
    return {
        "switches": dict(expected.switches),
        "expected": str(expected),
        "as_expected": side.is_met,
        "verdict": side.played.verdict.outcome,
    }


def _place(opened: NamedRace, out: str | None, text: str) -> Path:
    """The path to write: the race's own name in the folder that was named, or the first free name
    in `tests`."""
    folder, stem = Path(FOLDER if out is None else out), stem_of(Path(opened.path).name)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ScenarioError(
            f"{folder}: cannot be made: {error.strerror}.\n"
            f"Next: {opened.line('keep', '--out', 'another-folder')}"
        ) from error
    path = folder / f"{stem}{ENDINGS[0]}"
    if out is not None:
        return path
    for number in count(2):
        if not path.exists():
            break
        if path.is_file() and read_bytes(path) == text.encode():
            again = line_for("check", str(path), opened.trust)
            raise ScenarioError(f"{path}: is there already, and the same.\nNext: {again}")
        path = folder / f"{stem}-{number}{ENDINGS[0]}"
    return path
