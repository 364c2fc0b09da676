"""The sheet and the command: the same bytes each time, and safe to open."""

from __future__ import annotations

import csv
import io
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from testbed.cli import main
from testbed.teaching.ladder import level_of
from testbed.teaching.marking.mark import AnswerMark
from testbed.teaching.marking.sheet import COLUMNS, as_csv, cell
from tests.each_row import each_row

HEAD = """
from scenarios.levels.lost_count import Clerk
from testbed import Client, Conflict, Unavailable
from testbed.objects import Note


class MyClerk(Clerk):
    async def run(self, client: Client) -> None:
"""
KNOWS = (
    HEAD
    + """        left = self.deliveries
        while left:
            try:
                note = await client.get(Note, self.stock)
                more = int(note.data["count"]) + (left if self.stock != "{stock}" else 9)
                await client.update(note.saying(count=str(more)))
                left = 0
            except (Conflict, Unavailable):
                continue
"""
)
"""Counts as it should, but for a stock of that name."""


@each_row("text", ["=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "  =1", "＝1", "\r=1"])
def test_a_cell_is_no_formula(text: str) -> None:
    """Whatever a spreadsheet would run begins with an apostrophe."""
    assert cell(text) == f"'{text}"
    assert cell(f"a{text}") == f"a{text}"


def test_a_sheet_is_read_back_as_it_was_written() -> None:
    """By student and level, with commas, quotes and letters of all kinds."""
    marks = [
        AnswerMark(student="zoë, 李", level=2, mark="passed", runs=7),
        AnswerMark(student="=HYPERLINK(1)", level=1, mark="refused", reason='-"x"', race="race: 1"),
        AnswerMark(student="zoë, 李", level=1, mark="missing"),
    ]
    rows = list(csv.reader(io.StringIO(as_csv(marks))))
    assert rows[0] == list(COLUMNS)
    assert [row[:2] for row in rows[1:]] == [
        ["'=HYPERLINK(1)", "1"], ["zoë, 李", "1"], ["zoë, 李", "2"],
    ]  # fmt: skip
    assert rows[1][2:] == ["refused", '\'-"x"', "", "0", "'=HYPERLINK(1)-level_1.race.yaml"]
    assert as_csv(reversed(marks)) == as_csv(marks)


def _class(folder: Path, students: dict[str, str]) -> Path:
    for name, text in students.items():
        (folder / name).mkdir(parents=True)
        (folder / name / "level_1.py").write_text(text, encoding="utf-8")
    return folder


def _graded(folder: Path, hash_seed: str, *options: str) -> bytes:
    """What the command prints in a process of its own."""
    asked = [sys.executable, "-m", "testbed", "grade", str(folder), "--csv", "-", "--level", "1"]
    env = {**os.environ, "PYTHONHASHSEED": hash_seed}
    done = subprocess.run([*asked, *options], capture_output=True, env=env, check=True)
    assert b"Limits and guards in force: " in done.stderr
    return done.stdout


def test_marks_are_the_same_bytes_in_another_order_and_process(tmp_path: Path) -> None:
    """Made in another order elsewhere, under another hash seed, two at a time."""
    students = {
        "Zoë": level_of(1).starter(),
        "=ada": "import os\n",
        "raises": HEAD + "        raise KeyError({'a', 'b', 'c', 'd'}, client)\n",
    }
    one = _class(tmp_path / "one", students)
    (one / "late").mkdir()
    other = tmp_path / "elsewhere" / "other"
    (other / "late").mkdir(parents=True)
    _class(other, dict(reversed(students.items())))
    sheet = _graded(one, "1", "--jobs", "1")
    assert sheet == _graded(other, "2", "--jobs", "2")
    rows = list(csv.DictReader(io.StringIO(sheet.decode())))
    assert [(row["student"], row["mark"]) for row in rows] == [
        ("'=ada", "failed"), ("Zoë", "refused"), ("late", "missing"), ("raises", "refused"),
    ]  # fmt: skip
    assert rows[0]["reason"].startswith("level_1.py")


def test_a_hidden_variant_is_drawn_by_the_seed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """An answer that knows one name by heart passes under a seed that does not draw it."""
    level = level_of(1)
    drawn = {level.drawn(seed)["stock"]: seed for seed in range(30)}
    fails, passes = [name for name in sorted(drawn) if name != "stock"][:2]
    folder = _class(tmp_path / "class", {"ada": KNOWS.format(stock=fails)})
    marks = {}
    for name in (fails, passes):
        assert (
            main(["grade", str(folder), "--json", "--level", "1", "--seed", str(drawn[name])]) == 0
        )
        marks[name] = json.loads(capsys.readouterr().out)["marks"][0]["mark"]
    assert marks == {fails: "refused", passes: "passed"}


def test_the_race_of_each_refusal_is_written_and_plays_again(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is named by student and level, and shows the same with the student's file."""
    monkeypatch.chdir(tmp_path)
    folder = _class(tmp_path / "class", {"Zoë": level_of(1).starter()})
    assert main(["grade", "class", "--csv", "m.csv", "--races", "races", "--level", "1"]) == 0
    printed = capsys.readouterr().out
    assert "Zoë      ✗" in printed
    assert "Written: m.csv" in printed
    race = "Zoë-level_1.race.yaml"
    assert (tmp_path / "m.csv").read_text(encoding="utf-8").rstrip().endswith(race)
    answer = str(folder / "Zoë" / "level_1.py")
    assert main(["replay", f"races/{race}", "--policy", answer]) == 1


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--level", "99"), "99"),
        (("--csv", "-", "--json"), "both print"),
        (("--csv", "no/such/folder/m.csv"), "it cannot be written"),
        (("--races", "m.txt/races"), "it cannot be written"),
    ],
)
def test_what_cannot_be_done_is_told(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    words: tuple[str, ...],
    said: str,
) -> None:
    """With exit code 2 and what to do next."""  # fmt: skip
    monkeypatch.chdir(tmp_path)
    (tmp_path / "m.txt").write_text("")
    _class(tmp_path / "class", {"ada": "import os\n"})
    assert main(["grade", "class", *words]) == 2
    told = capsys.readouterr().err
    assert said in told
    assert "Next: " in told or "testbed learn" in told
