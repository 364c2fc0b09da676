"""docs/tour.md is short, and the mend that it leaves to the reader is one."""

from __future__ import annotations

import re
from pathlib import Path

from tests.shared.pages import BLOCK, Terminal, page, save, shown

PAGE = page("tour")
BLOCKS: list[tuple[str, str]] = BLOCK.findall(PAGE)


MENDED = """\
        while not (bookings := (await client.list(Note)).items):
            name = "room-7" if self.guard else f"room-7-{self.name}"
            with suppress(AlreadyExists):
                await client.create(Note(name, data=Map(guest=self.name)))
        if bookings[0].data["guest"] == self.name:
            client.record("booked")
"""


def test_the_mend_that_is_left_to_the_reader_is_one(terminal: Terminal, tmp_path: Path) -> None:
    """A clerk that looks whose booking it is, after its own as well: that night is quiet, and the
    trace of the old one says where the code has changed."""
    save(PAGE, tmp_path)
    (night,) = (command for command, _ in shown(PAGE) if "--trace storm.jsonl" in command)
    assert terminal.call(night, tmp_path)[0] == 1
    clerk = tmp_path / "clerk.py"
    clerk.write_text(clerk.read_text().partition("        if (await")[0] + MENDED)
    assert terminal.call(night.replace("--trace storm.jsonl", ""), tmp_path)[0] == 0
    old = "testbed replay storm.jsonl --scenario storm:stormy_night"
    code, printed = terminal.call(old, tmp_path)
    assert (code, printed.partition(" of ")[0]) == (4, "ReplayDiverged: line 12")


def test_every_block_is_a_file_or_commands() -> None:
    """A Python block begins with the name of its file; a console block with a command. There is no
    other, so that nothing on the tour is left untried."""
    for kind, text in BLOCKS:
        first = text.partition("\n")[0]
        if kind == "python":
            assert re.fullmatch(r"# \w+\.py", first), first
        else:
            assert (kind, first[:2]) == ("console", "$ ")


def test_the_tour_is_short() -> None:
    """Two hundred lines, and wide ones only in prose."""
    lines = PAGE.splitlines()
    assert len(lines) <= 200
    code = [line for _, text in BLOCKS for line in text.splitlines()]
    assert max(map(len, code)) <= 100


def test_each_thing_is_a_small_file() -> None:
    """Actor, scenario, fault and chooser: none is longer than forty lines."""
    files = [text for kind, text in BLOCKS if kind == "python"]
    names = [text.partition("\n")[0] for text in files]
    assert names == [
        "# clerk.py", "# hotel.py", "# tick_tock.py", "# storm.py",
    ]  # fmt: skip
    assert max(text.count("\n") for text in files) <= 40
