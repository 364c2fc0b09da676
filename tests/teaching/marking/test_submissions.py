"""The folder of a class: what is read of it, and what is not, whatever stands there."""

from __future__ import annotations

import os
import unicodedata
from pathlib import Path

import pytest

from testbed.errors import ScenarioError
from testbed.teaching.marking.limits import ANSWER_BYTES
from testbed.teaching.marking.mark import in_a_line
from testbed.teaching.marking.submissions import Submission, student_name, submissions

POSIX = pytest.mark.skipif(
    os.name != "posix", reason="needs POSIX: links and pipes among the files"
)


def _hand_in(folder: Path, student: str, level: int = 1, text: bytes = b"x = 1\n") -> Path:
    (folder / student).mkdir(exist_ok=True)
    file = folder / student / f"level_{level}.py"
    file.write_bytes(text)
    return file


def test_each_student_has_a_row_for_each_level_in_order(tmp_path: Path) -> None:
    """By name, then by number; what is not there has no text, and other files are left alone."""
    for student, level in (("zoe", 2), ("ada", 10), ("ada", 1)):
        _hand_in(tmp_path, student, level)
    for number in range(20):
        _hand_in(tmp_path, f"b{number:02}")
    (tmp_path / "ada" / "notes.txt").write_text("…")
    (tmp_path / "marks.csv").write_text("…")
    (tmp_path / ".git").mkdir()
    found = submissions(tmp_path, [10, 2, 1])
    assert [each.student for each in found[3:-3:3]] == [f"b{number:02}" for number in range(20)]
    del found[3:-3]
    assert [(each.student, each.level, each.text is not None) for each in found] == [
        ("ada", 1, True), ("ada", 2, False), ("ada", 10, True),
        ("zoe", 1, False), ("zoe", 2, True), ("zoe", 10, False),
    ]  # fmt: skip


@pytest.mark.parametrize("name", ["Level_1.py", "level_1.py.txt", "level1.py", "LEVEL-1.PY"])
def test_a_file_of_nearly_that_name_is_named(tmp_path: Path, name: str) -> None:
    """It is not read, not even where the system takes one for the other; level 10 is another."""
    _hand_in(tmp_path, "ada", 10)
    (tmp_path / "ada" / name).write_text("x = 1\n")
    (tmp_path / "ada" / "notes.txt").write_text("…")
    first, tenth = submissions(tmp_path, [1, 10])
    assert (first.text, first.problem, first.instead) == (None, "", name)
    assert (tenth.text, tenth.instead) == (b"x = 1\n", "")


@pytest.mark.parametrize("laid_out", ["", "level_1.py", "ada_level_1.py", "ada/level1.py"])
def test_what_is_laid_out_in_another_way_is_told_what_was_expected(
    tmp_path: Path, laid_out: str
) -> None:
    """An empty folder, flat files, another name of the file."""
    if laid_out:
        (tmp_path / laid_out).parent.mkdir(exist_ok=True)
        (tmp_path / laid_out).write_text("x = 1\n")
    with pytest.raises(ScenarioError, match="expected a folder for each student") as told:
        submissions(tmp_path, [1])
    assert "ada/level_1.py" in str(told.value)
    assert ("but level_1.py itself" in str(told.value)) == (laid_out == "level_1.py")


def test_a_folder_that_is_not_there_is_told(tmp_path: Path) -> None:
    """Its name, and what was expected."""
    with pytest.raises(ScenarioError, match="there is no such folder"):
        submissions(tmp_path / "none", [1])


@POSIX
def test_a_link_is_not_followed_and_a_pipe_not_waited_for(tmp_path: Path) -> None:
    """A file or a folder that is a link, a pipe, a folder with the name of a file: each has a row
    that says what it is."""
    other = _hand_in(tmp_path, "ada")
    for name in ("linked", "piped", "nested"):
        (tmp_path / name).mkdir()
    (tmp_path / "linked" / "level_1.py").symlink_to(other)
    os.mkfifo(tmp_path / "piped" / "level_1.py")
    (tmp_path / "nested" / "level_1.py").mkdir()
    (tmp_path / "whole").symlink_to(tmp_path / "ada")
    (tmp_path / "dangling").symlink_to(tmp_path / "nothing")
    problems = {each.student: each.problem for each in submissions(tmp_path, [1])}
    assert problems == {
        "ada": "", "linked": "level_1.py is a link, which is not followed",
        "piped": "level_1.py is no plain file", "nested": "level_1.py is no plain file",
        "whole": "the folder is a link, which is not followed",
        "dangling": "the folder is a link, which is not followed",
    }  # fmt: skip


def test_a_file_that_is_too_long_is_not_read_to_its_end(tmp_path: Path) -> None:
    """It may have 64 kB."""
    _hand_in(tmp_path, "ada", text=b"#" * (ANSWER_BYTES + 1))
    _hand_in(tmp_path, "ben", text=b"#" * ANSWER_BYTES)
    ada, ben = submissions(tmp_path, [1])
    assert ada == Submission("ada", 1, problem="level_1.py has more than 65,536 bytes")
    assert ben.text == b"#" * ANSWER_BYTES


def test_a_name_is_written_in_one_way_on_each_system() -> None:
    """An accent is one letter, whichever way the system stores it; what cannot be printed is
    written as its number; what no file may be called is replaced."""
    assert student_name(unicodedata.normalize("NFD", "Zoë Müller")) == "Zoë Müller"
    assert student_name("李雷") == "李雷"
    assert student_name("a\nb\x1b[0m\u202e") == "a_u000ab_u001b[0m_u202e"
    assert student_name(os.fsdecode(b"caf\xe9")) == "caf_xe9"
    assert student_name("a/b:c") == "a_b_c"
    assert student_name("..") == "_"
    assert len(student_name("é" * 300).encode()) <= 150


@POSIX
def test_two_names_that_would_be_one_are_refused(tmp_path: Path) -> None:
    """Their rows could not be told apart."""
    for form in ("NFC", "NFD"):
        _hand_in(tmp_path, unicodedata.normalize(form, "Zoë"))
    if len(list(tmp_path.iterdir())) == 2:
        with pytest.raises(ScenarioError, match="two folders are both"):
            submissions(tmp_path, [1])


def test_a_reason_has_nothing_in_it_that_differs_between_machines(tmp_path: Path) -> None:
    """No address, no path, no second line, and an end."""
    text = f"{tmp_path}/level_1.py: <C object at 0x7f00deadbeef>\n  died\x00 " + "x" * 300
    said = in_a_line(text, tmp_path)
    assert said.startswith("level_1.py: <C object at 0x…> died\\u0000 xxx")
    assert len(said) == 200
