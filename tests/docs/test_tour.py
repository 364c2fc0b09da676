"""docs/tour.md is true: its files are written, its commands run, and they say what it shows."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import attrs
import pytest

from tests.shared.pages import BLOCK, as_shown, call, commands

TOUR = Path(__file__).parent.parent.parent / "docs/tour.md"


def blocks() -> Iterator[tuple[str, str]]:
    """Every fenced block: its kind and its text."""
    for found in BLOCK.finditer(TOUR.read_text(encoding="utf-8")):
        yield found[1], found[2]


CODES = {"Held": 0, "Violated": 1, "ScenarioError": 2, "Undecided": 3, "ReplayDiverged": 4}


@attrs.frozen
class Shown:
    """One command of the tour."""

    command: str
    output: str
    """What is said to be printed."""
    code: int
    printed: str


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the tour is walked."""
    return tmp_path_factory.mktemp("tour")


@pytest.fixture(scope="module")
def walked(folder: Path) -> list[Shown]:
    """The tour from end to end: files are written and commands run in the order they stand."""
    seen = []
    for kind, text in blocks():
        if kind == "python":
            folder.joinpath(text.partition("\n")[0].removeprefix("# ")).write_text(text)
        else:
            seen += [
                Shown(command, said, *call(command, folder)) for command, said in commands(text)
            ]
    return seen


def test_every_command_prints_what_is_shown(walked: list[Shown]) -> None:
    """Line by line, but for what the tour leaves out."""
    for shown in walked:
        assert as_shown(shown.output).fullmatch(shown.printed), f"{shown.command}\n{shown.printed}"


def test_every_exit_code_is_that_of_its_verdict(walked: list[Shown]) -> None:
    """0 held, 1 violated, 2 for a word too few; each is met."""
    for shown in walked:
        said = re.findall(rf"^({'|'.join(CODES)})\b", shown.printed, re.MULTILINE)
        assert shown.code == CODES[said[-1]], f"{shown.command}\n{shown.printed}"
    assert {shown.code for shown in walked} == {0, 1, 2}


MENDED = """\
        while not (bookings := (await client.list(Note)).items):
            name = "room-7" if self.guard else f"room-7-{self.name}"
            with suppress(AlreadyExists):
                await client.create(Note(name, data=Map(guest=self.name)))
        if bookings[0].data["guest"] == self.name:
            client.record("booked")
"""


def test_the_mend_that_is_left_to_the_reader_is_one(walked: list[Shown], folder: Path) -> None:
    """A clerk that looks whose booking it is, after its own as well: that night is quiet, and the
    trace of the old one says where the code has changed."""
    clerk = folder / "clerk.py"
    clerk.write_text(clerk.read_text().partition("        if (await")[0] + MENDED)
    (night,) = (shown.command for shown in walked if "--trace storm.jsonl" in shown.command)
    assert call(night.replace("--trace storm.jsonl", ""), folder)[0] == 0
    code, printed = call("testbed replay storm.jsonl --scenario storm:stormy_night", folder)
    assert (code, printed.partition(" of ")[0]) == (4, "ReplayDiverged: line 12")


def test_every_block_is_a_file_or_commands() -> None:
    """A Python block begins with the name of its file; a console block with a command. There is no
    other, so that nothing on the tour is left untried."""
    for kind, text in blocks():
        first = text.partition("\n")[0]
        if kind == "python":
            assert re.fullmatch(r"# \w+\.py", first), first
        else:
            assert (kind, first[:2]) == ("console", "$ ")


def test_the_tour_is_short() -> None:
    """Two hundred lines, and wide ones only in prose."""
    lines = TOUR.read_text(encoding="utf-8").splitlines()
    assert len(lines) <= 200
    code = [line for _, text in blocks() for line in text.splitlines()]
    assert max(map(len, code)) <= 100


def test_each_thing_is_a_small_file() -> None:
    """Actor, scenario, fault and chooser: none is longer than forty lines."""
    files = [text for kind, text in blocks() if kind == "python"]
    names = [text.partition("\n")[0] for text in files]
    assert names == [
        "# clerk.py", "# hotel.py", "# tick_tock.py", "# storm.py",
    ]  # fmt: skip
    assert max(text.count("\n") for text in files) <= 40
