"""testbed keep: turns a race that was found into a test that fails until the code is fixed."""

from __future__ import annotations

import shlex
from itertools import count
from pathlib import Path

import attrs
import click

from testbed.cli.races import (
    ENDINGS,
    NamedRace,
    open_race,
    refuse_stale,
    stem_of,
    trust_of,
    whose_code,
    write_new,
)
from testbed.cli.show import EXIT_CODES, JSON, say, say_json
from testbed.errors import RaceRefused, ScenarioError
from testbed.races.expecting import both_sides
from testbed.races.racefile import parse
from testbed.races.rewriting import kept
from testbed.races.trust import line_for

FOLDER = "tests"
"""Where a race is kept by default."""


@click.command("keep", epilog=EXIT_CODES)
@click.argument("file")
@whose_code
@click.option("--out", metavar="DIR", help="Folder to write to, if not `tests`; made if missing.")
@click.option("--json", "as_json", is_flag=True, help=JSON)
def command(
    file: str, scenario: str | None, folders: tuple[str, ...], out: str | None, as_json: bool
) -> int:
    """Turn the race FILE, which expects a violation, into a new file that expects the claim to
    hold.

    The new file fails until the code is fixed, and then stays as a regression test. Comments are
    kept. No file is overwritten: in `tests`, it gets another name if its own is taken. Exits 0 when
    it is written.
    """
    trust = trust_of(scenario, folders)
    opened = open_race(file, trust, "keep")
    if not any(side.violates for side in opened.race.expect):
        raise RaceRefused(
            f"{file}: expects no breach, so there is nothing to turn round.\n"
            f"Next: {opened.line('check')}"
        )
    sides = both_sides(opened.race, opened.recipe, file, keep=False)
    for side in sides:
        refuse_stale(side, file, opened.line("replay", "--heal"))
    text = kept(opened.text, file)
    path = _place(opened, out, text)
    write_new(path, text, opened.line("keep"))
    green = all(
        attrs.evolve(side, expected=expected).is_met
        for side, expected in zip(sides, parse(text, str(path)).expect, strict=True)
    )
    check = line_for("check", str(path), trust)
    if as_json:
        say_json({"file": str(path), "is_green": green, "again": check})
        return 0
    now = "green already: the race does not happen any more" if green else (
        "red until the code is mended"
    )  # fmt: skip
    say(f"Kept as {path}: {now}.")
    if not Path(file).samefile(path):
        say(f"{file} expects the breach still: remove it before your code is mended.")
    say(f"pytest collects it with your tests (`pytest {shlex.quote(str(path))}`). By hand: {check}")
    return 0


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
        if path.is_file() and path.read_bytes() == text.encode():
            again = line_for("check", str(path), opened.trust)
            raise ScenarioError(f"{path}: is there already, and the same.\nNext: {again}")
        path = folder / f"{stem}-{number}{ENDINGS[0]}"
    return path
