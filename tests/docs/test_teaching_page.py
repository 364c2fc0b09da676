"""docs/teaching.md is true: its commands say what it shows, and its own level is one."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from testbed.teaching.ladder import levels
from tests.shared.pages import as_shown, page, shown

PAGE = page("teaching")
FILES = re.compile(r"`((?:levels/)?\w+\.py)`:\n\n```python\n(.*?)^```$", re.M | re.S)
REFUSED = "learn 1 --check level_1.py"
"""The one command of the page that comes to a refusal."""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with the files of the page, and the answer of one student."""
    files = dict(FILES.findall(PAGE))
    assert [*files] == ["levels/last_ticket.py", "level_11.py"]
    for name, text in files.items():
        for path in (tmp_path / name, tmp_path / "answers/ada" / name):
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
    return tmp_path


def said(command: str, folder: Path) -> tuple[int, str]:
    """Run the command in that folder, in a process that has yet to ask which levels there are; its
    exit code and what it prints."""
    *given, words = re.split(r" ?testbed ", command)
    set_to = dict(each.split("=") for each in " ".join(given).split())
    own = {**os.environ, **set_to, "TESTBED_LEARN": str(folder / "learn.json")}
    done = subprocess.run(
        [sys.executable, "-m", "testbed", *words.split()],
        cwd=folder, env=own, text=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
        timeout=300,
    )  # fmt: skip
    return done.returncode, done.stdout


def test_its_commands_say_what_it_shows(folder: Path) -> None:
    """In the order in which they stand there, in one folder."""
    assert len(shown(PAGE)) == 7
    for command, printed in shown(PAGE):
        code, output = said(command, folder)
        assert code == (REFUSED in command), (command, output)
        assert as_shown(printed).fullmatch(output), (command, output)


def test_each_level_has_its_lab() -> None:
    """The table of labs names each level once."""
    rows = re.findall(r"^\| \d \*.*?\* \| ([\d, ]+) \|", PAGE, re.MULTILINE)
    told = sorted(int(number) for row in rows for number in row.split(", "))
    assert told == [level.number for level in levels()]
