"""testbed grade: marks the answers of a class, each in a process of its own."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import click

from testbed.cli.jobs import JOBS_MAX, processors
from testbed.cli.output import say, say_bytes, tell
from testbed.cli.progress import counting
from testbed.cli.show import EXIT_CODES, JSON, say_json, say_table
from testbed.code.files import CONTINUED, open_out, write_bytes
from testbed.errors import ScenarioError
from testbed.teaching.ladder import level_of
from testbed.teaching.marking.kernel import LANDLOCK, SYSTEM_CALLS
from testbed.teaching.marking.limits import LIMITED, BoothLimits
from testbed.teaching.marking.mark import (
    FAILED,
    MARKS,
    MISSING,
    NOT_DECIDED,
    PASSED,
    REFUSED,
    AnswerMark,
)
from testbed.teaching.marking.marking import known_numbers, marked
from testbed.teaching.marking.part import GUARD
from testbed.teaching.marking.sheet import as_csv
from testbed.teaching.marking.submissions import Submission, submissions
from testbed.words import counted

GUARDS = (*LIMITED, LANDLOCK, SYSTEM_CALLS, GUARD)
SIGNS = {PASSED: "✓", REFUSED: "✗", FAILED: "!", MISSING: "·", NOT_DECIDED: "?"}
STDOUT = "-"


@click.command(
    "grade",
    epilog=f"0 marked, whatever the marks are; 4 if some are not decided. {EXIT_CODES}",
)
@click.argument("folder", metavar="DIR", type=click.Path(path_type=Path))
@click.option("--csv", "sheet", metavar="FILE", help="Write the marks as CSV; - prints them.")
@click.option("--races", metavar="DIR", type=click.Path(path_type=Path),
              help="Write here the race file of each answer that is refused.")  # fmt: skip
@click.option("--level", "numbers", multiple=True, type=int, help="Only this level. Repeatable.")
@click.option("--seed", default=0, show_default=True,
              help="Draws the hidden variant of each level.")  # fmt: skip
@click.option("--seconds", default=BoothLimits().seconds, show_default=True,
              type=click.IntRange(1, 3600), help="Processor time of one trial.")  # fmt: skip
@click.option("--memory", "memory_mb", default=BoothLimits().memory_mb, show_default=True,
              type=click.IntRange(256, 1 << 20), help="Memory of one answer, in MB.")  # fmt: skip
@click.option("--jobs", type=click.IntRange(1, JOBS_MAX),
              help="How many answers are played at a time; by default one a CPU.")  # fmt: skip
@click.option("--json", "as_json", is_flag=True, help=JSON)
def command(
    folder: Path,
    sheet: str | None,
    races: Path | None,
    numbers: tuple[int, ...],
    seed: int,
    seconds: int,
    memory_mb: int,
    jobs: int | None,
    as_json: bool,
) -> int:
    """Mark the answers of a class. DIR has a folder for each student, with level_1.py, level_2.py …
    in it.

    Each answer is played in processes of its own that may do nothing but answer. Its mark is
    passed, refused (a trial did not hold, or it tried what is not allowed), failed (it could not be
    played to its end), missing, or not decided (this machine could not play it). The same files and
    seed give the same marks, byte for byte.

    \b
    testbed grade answers/ --csv marks.csv --races races/
    testbed grade answers/ --csv - --level 3 --seed 2026
    """
    if as_json and sheet == STDOUT:
        raise ScenarioError("--json and --csv -: both print.\nNext: give --csv a file.")
    for number in numbers:
        level_of(number)
    handed_in = submissions(folder, numbers or known_numbers())
    if sheet not in (None, STDOUT):
        _check_writable(Path(str(sheet)))
    limits = BoothLimits(seconds=seconds, memory_mb=memory_mb)
    marks = _mark(handed_in, seed, limits, jobs or processors())
    if races is not None:
        _write_races(races, marks)
    if sheet not in (None, STDOUT):
        _write(Path(str(sheet)), as_csv(marks))
    if as_json:
        say_json({"seed": seed, "marks": [mark.as_dict() for mark in marks]})
    elif sheet == STDOUT:
        # As bytes: text would get other letters and line ends on another system.
        say_bytes(as_csv(marks).encode())
    else:
        _show(marks, folder, sheet)
    return _code(marks)


def _mark(
    handed_in: Sequence[Submission], seed: int, limits: BoothLimits, jobs: int
) -> list[AnswerMark]:
    """Mark all; say once which guards are in force."""
    marks: list[AnswerMark] = []
    told: list[str] = []
    with counting("answers") as progress:
        for mark in marked(handed_in, seed=seed, limits=limits, jobs=jobs, on_kept=told.extend):
            marks.append(mark)
            progress(len(marks), len(handed_in))
    if told:
        missing = [guard for guard in GUARDS if guard not in told]
        text = ", ".join(guard for guard in GUARDS if guard in told)
        tell(f"Limits and guards in force: {text}.")
        if missing:
            tell(f"Not in force on this system: {', '.join(missing)}.")
    return marks


def _code(marks: Sequence[AnswerMark]) -> int:
    """The exit code: 4 if some are not decided, which is said, too."""
    ours = sum(mark.mark == NOT_DECIDED for mark in marks)
    if not ours:
        return 0
    text = (
        f"{counted(ours, 'answer')} could not be played here. That is our fault, or that of this "
        "machine, and no mark: the reason in the sheet says more.\nNext: grade again; if it stays "
        "so, report it."
    )
    tell(text)
    return 4


def _show(marks: Sequence[AnswerMark], folder: Path, sheet: str | None) -> None:
    """Print a line for each student, with a sign for each level, and what each sign means."""
    levels = sorted({mark.level for mark in marks})
    by_student: dict[str, list[str]] = {}
    for mark in marks:
        by_student.setdefault(mark.student, []).append(SIGNS[mark.mark])
    rows = [[student, *signs] for student, signs in by_student.items()]
    say_table([["student", *map(str, levels)], *rows])
    count = Counter(mark.mark for mark in marks)
    say(f"\n{', '.join(f'{SIGNS[mark]} {count[mark]} {mark}' for mark in MARKS)}; "
        f"{counted(len(by_student), 'student')}.")  # fmt: skip
    say(f"Written: {sheet}" if sheet else f"Next: testbed grade {folder} --csv marks.csv")


def _check_writable(file: Path) -> None:
    """ScenarioError if the file cannot be written: better now than after all marks."""
    is_new = not file.exists()
    try:
        open_out(file, CONTINUED).close()
        if is_new:
            file.unlink()
    except OSError as error:
        raise _cannot_write(file, error) from error


def _write_races(folder: Path, marks: Sequence[AnswerMark]) -> None:
    """Write the race file of each answer that has one."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise _cannot_write(folder, error) from error
    for mark in marks:
        if mark.race:
            _write(folder / mark.file, mark.race)


def _write(file: Path, text: str) -> None:
    """Write the file, with the same line ends on each system."""
    try:
        write_bytes(file, text.encode())
    except OSError as error:
        raise _cannot_write(file, error) from error


def _cannot_write(path: Path, error: OSError) -> ScenarioError:
    return ScenarioError(f"{path}: it cannot be written: {error.strerror}.\nNext: name another.")
