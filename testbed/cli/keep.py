"""testbed keep: a race that was found becomes a test that is red until the code is mended."""

from __future__ import annotations

import shlex
from pathlib import Path

import attrs
import click

from testbed.allowed import line_for
from testbed.cli.races import (
    ENDINGS,
    open_race,
    refuse_stale,
    stem_of,
    trust_of,
    whose_code,
    write_new,
)
from testbed.cli.show import EXIT_CODES, say, say_json
from testbed.errors import RaceRefused
from testbed.expecting import both_sides
from testbed.racefile import parse
from testbed.rewriting import kept


@click.command("keep", epilog=EXIT_CODES)
@click.argument("file")
@whose_code
@click.option("--out", metavar="DIR", help="Where to; without it tests/, or the current folder.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object.")
def command(
    file: str, scenario: str | None, folders: tuple[str, ...], out: str | None, as_json: bool
) -> int:
    """Turn the race FILE, which says what is violated, into one that says what must hold.

    It is red until the code is mended, and stays as a regression test. Comments are kept. Exits 0
    when it is written.
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
    folder = Path(out if out is not None else "tests" if Path("tests").is_dir() else ".")
    path = folder / f"{stem_of(Path(file).name)}{ENDINGS[0]}"
    text = kept(opened.text, file)
    if out is not None:
        folder.mkdir(parents=True, exist_ok=True)
    write_new(path, text, shlex.join(["testbed", "keep", file, "--out", "tests"]))
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
