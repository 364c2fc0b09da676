"""The record of a student: nothing is lost, and a damaged file is left as it is."""

from __future__ import annotations

from pathlib import Path

import pytest

from testbed.errors import ScenarioError
from testbed.teaching.record import USUAL, VARIABLE, LevelRecord, path_of, read_record
from tests.each_row import each_row


def test_what_is_written_is_read_again(tmp_path: Path) -> None:
    """Level by level; the folder is made if it is not there."""
    file = tmp_path / "state" / "learn.json"
    student = read_record(file).checked(2, passed=False).checked(2, passed=True)
    student.having(10, hints=3).write()
    again = read_record(file)
    assert again.of(2) == LevelRecord(passed=True, checks=2, checks_to_pass=2)
    assert again.of(10) == LevelRecord(hints=3)
    assert again.of(1) == LevelRecord()
    assert file.read_bytes().startswith(b'{"testbed_learn":1,"levels":{"2":{"passed":true')
    assert [path.name for path in file.parent.iterdir()] == ["learn.json"]


def test_what_is_passed_stays_passed(tmp_path: Path) -> None:
    """Also if a later answer is refused; and how many checks it took is kept."""
    student = read_record(tmp_path / "learn.json").checked(1, passed=True)
    student = student.checked(1, passed=False).checked(1, passed=True)
    assert student.of(1) == LevelRecord(passed=True, checks=3, checks_to_pass=1)


@each_row(
    "text",
    [
        "", "{", "[]", "3", "{}", '{"testbed_learn":2,"levels":{}}', '{"testbed_learn":1}',
        '{"testbed_learn":1,"levels":[]}', '{"testbed_learn":1,"levels":{"1":{"passed":1}}}',
        '{"testbed_learn":1,"levels":{"x":{}}}', '{"testbed_learn":1,"levels":{"1":{"odd":1}}}',
        '{"testbed_learn":1,"levels":{"1":{"passed":true,"checks":-1}}}', "\xff",
    ],
)  # fmt: skip
def test_a_damaged_file_is_refused_and_left_as_it_is(text: str, tmp_path: Path) -> None:
    """It may have been edited by hand, and what is in it is a student's work."""
    file = tmp_path / "learn.json"
    file.write_bytes(text.encode("latin-1"))
    with pytest.raises(ScenarioError, match=r"left as it is\.\nNext: ") as caught:
        read_record(file)
    assert str(file) in str(caught.value)
    assert file.read_bytes() == text.encode("latin-1")


def test_a_file_that_cannot_be_written_is_told(tmp_path: Path) -> None:
    """A folder of that name, or a file where a folder should be."""
    (tmp_path / "full").write_text("")
    for place in (tmp_path, tmp_path / "full" / "learn.json"):
        student = read_record(tmp_path / "other").checked(1, passed=True)
        with pytest.raises(ScenarioError, match="Next: name a file"):
            type(student)(place, student.levels).write()


def test_the_file_is_the_named_one_or_the_usual_one(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """The option first, then the environment, then the home folder."""
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv(VARIABLE, raising=False)
    assert path_of(None) == tmp_path / USUAL
    monkeypatch.setenv(VARIABLE, "from-the-environment.json")
    assert path_of(None) == Path("from-the-environment.json")
    assert path_of("named.json") == Path("named.json")
