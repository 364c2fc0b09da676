"""Submissions: the answers of a class, read from one folder that is not to be trusted.

It has a folder for each student, with `level_1.py`, `level_2.py` and so on in it. A link is not
followed, wherever it leads; what is no plain file is not read; a file that is too long is not read
to its end. The name of a folder is the name of the student, and may hold anything.
"""

from __future__ import annotations

import os
import re
import stat
import unicodedata
from collections.abc import Iterable
from pathlib import Path

import attrs

from testbed.code.printable import in_line
from testbed.errors import ScenarioError
from testbed.teaching.marking.limits import ANSWER_BYTES

NAME_BYTES_MAX = 150
"""Of a student's name: the name of a race file begins with it."""
ODD = '<>:"/\\|?*'
"""What the name of a file may not hold on each system."""
EXPECTED = (
    "expected a folder for each student, with level_1.py, level_2.py … in it:\n"
    "    {folder}/ada/level_1.py\n    {folder}/ben/level_1.py"
)


@attrs.frozen
class Submission:
    """What one student has handed in for one level."""

    student: str
    level: int
    text: bytes | None = None
    """The text of the file; None if there is none, or it cannot be read."""
    problem: str = ""
    """Why it cannot be read; empty if there is no file at all."""
    instead: str = ""
    """Of no file: the name of another that may have been meant; empty if there is none."""


def file_of(level: int) -> str:
    """What the file of an answer to that level is called."""
    return f"level_{level}.py"


def submissions(folder: Path, levels: Iterable[int]) -> list[Submission]:
    """All that stands in that folder: for each student one for each level, sorted by name and
    number. ScenarioError if no student has a file in it."""
    wanted = sorted(set(levels))
    if not folder.is_dir():
        raise ScenarioError(
            f"{folder}: there is no such folder; {EXPECTED.format(folder=folder)}\n"
            "Next: testbed grade FOLDER"
        )
    # The bytes of a name may be no text at all, and then differ from what is printed for it.
    found = sorted(os.scandir(folder), key=lambda entry: entry.name)
    folders = [each for each in found if not each.name.startswith(".") and _is_students(each)]
    named = dict[str, str]()
    for each in folders:
        name = student_name(each.name)
        if name in named:
            raise ScenarioError(
                f"{folder}: two folders are both {name!r} once they are written in the same way.\n"
                "Next: give one of them another name."
            )
        named[name] = each.path
    made = [_read(name, Path(named[name]), level) for name in sorted(named) for level in wanted]
    if not any(each.text is not None or each.problem for each in made):
        own = [each.name for each in found if each.name in map(file_of, wanted)]
        seen = f" but {own[0]} itself" if own else ""
        raise ScenarioError(
            f"{folder}: no answer is there{seen}; {EXPECTED.format(folder=folder)}\n"
            "Next: put each student's files into a folder of their name."
        )
    return made


def student_name(name: str) -> str:
    """The name of a folder as the sheet shows it, and as a race file is called: the same on each
    system, however that system writes an accent."""
    text = unicodedata.normalize("NFC", os.fsencode(name).decode("utf-8", "backslashreplace"))
    text = "".join("_" if each in ODD else each for each in in_line(text))
    while len(text.encode()) > NAME_BYTES_MAX:
        text = text[:-1]
    return text.rstrip(" .") or "_"


def _is_students(entry: os.DirEntry[str]) -> bool:
    """Whether it is a folder; a link to one counts, so that its row can say what is wrong."""
    return entry.is_dir(follow_symlinks=True) or entry.is_symlink()


def _nearly(name: str, there: list[str]) -> str:
    """The first of those names that may have been meant for that one; empty if none was."""
    bare = _bare(name)
    found = (each for each in sorted(there) if _bare(each).startswith(bare))
    return next(found, "")


def _bare(name: str) -> str:
    return re.sub(r"[^a-z0-9]", "", name.lower())


def _read(student: str, folder: Path, level: int) -> Submission:
    """Read one file without ever following a link."""
    name = file_of(level)
    try:
        if stat.S_ISLNK(os.lstat(folder).st_mode):
            return Submission(student, level, problem="the folder is a link, which is not followed")
        # Some systems find level_1.py by the name Level_1.py, and others do not.
        if name not in (there := os.listdir(folder)):
            return Submission(student, level, instead=in_line(_nearly(name, there)))
        how = os.lstat(folder / name).st_mode
    except FileNotFoundError:
        return Submission(student, level)
    except OSError:
        return Submission(student, level, problem=f"{name} cannot be read")
    if stat.S_ISLNK(how):
        return Submission(student, level, problem=f"{name} is a link, which is not followed")
    if not stat.S_ISREG(how):
        return Submission(student, level, problem=f"{name} is no plain file")
    try:
        # It may have become another thing meanwhile, such as a pipe; that is not waited for.
        flags = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
        with os.fdopen(os.open(folder / name, flags | getattr(os, "O_BINARY", 0)), "rb") as file:
            text = file.read(ANSWER_BYTES + 1)
    except OSError:
        return Submission(student, level, problem=f"{name} cannot be read")
    if len(text) > ANSWER_BYTES:
        return Submission(student, level, problem=f"{name} has more than {ANSWER_BYTES:,} bytes")
    return Submission(student, level, text)
