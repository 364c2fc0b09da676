"""docs/alternatives.md is true: its commands print that, and its figures are what is measured."""

from __future__ import annotations

import shlex
from pathlib import Path

import pytest

from testbed.cli import main
from testbed.search.comparing.measure_kinds import measure_kinds
from tests.shared.pages import BLOCK, Terminal, commands, page, shown

PAGE = page("alternatives")
SHOWN = shown(PAGE)
LARGE = [
    command for kind, text in BLOCK.findall(PAGE) if kind == "text" for command, _ in commands(text)
]


def marks_of(command: str) -> tuple[pytest.MarkDecorator, ...]:
    """Of a command that plays ten Runs of each, which takes seconds, that it is `long`."""
    return (pytest.mark.long,) if "--runs 10" in command else ()


@pytest.mark.parametrize(
    ("command", "output"), [pytest.param(*each, marks=marks_of(each[0])) for each in SHOWN]
)
def test_every_command_prints_what_is_shown(
    command: str, output: str, terminal: Terminal, tmp_path: Path
) -> None:
    """To the letter, but for what is left out."""
    terminal.assert_prints([(command, output)], tmp_path)


@pytest.mark.long
@pytest.mark.parametrize("command", LARGE)
def test_every_large_table_is_what_is_measured(
    command: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """Row by row: thirty Runs of each alternative take a minute or two."""
    main(shlex.split(command)[1:])
    printed = capsys.readouterr().out
    rows = [line for line in printed.splitlines() if line.startswith("| ")]
    assert len(rows) > 5
    assert [row for row in rows if row not in PAGE.splitlines()] == []


def test_there_are_commands_of_both_sizes() -> None:
    """Else nothing would be called."""
    assert (len(SHOWN), len(LARGE)) == (5, 3)


def test_every_measure_is_listed_with_what_it_counts() -> None:
    """In the order in which they are shown."""
    rows = [line for line in PAGE.splitlines() if line.startswith("| `") and line.count("|") == 3]
    told = [(row.split("`")[1], kind.says in row) for row, kind in zip(
        rows, measure_kinds().values(), strict=True)]  # fmt: skip
    assert told == [(name, True) for name in measure_kinds()]
