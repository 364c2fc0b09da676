"""A level of the user's own: learned, checked, marked and replayed as those that come along."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from testbed.teaching.level import GuessFirst

Called = Callable[..., subprocess.CompletedProcess[str]]
PAGE = (Path(__file__).parents[2] / "docs/teaching.md").read_text(encoding="utf-8")
LEVEL, ANSWER = re.findall(r"^```python\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
BLIND = ANSWER.replace("str(left - 1))", "str(left - 1)), whatever_it_was=True")


@pytest.fixture
def called(tmp_path: Path) -> Called:
    """Beside a folder with that level: call the testbed in a process of its own."""
    (tmp_path / "own").mkdir()
    (tmp_path / "own/last_ticket.py").write_text(LEVEL, encoding="utf-8")
    env = {**os.environ, "TESTBED_LEVELS": "own", "TESTBED_LEARN": str(tmp_path / "learn.json")}

    def call(*words: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "testbed", *words],
            cwd=tmp_path, env=env, text=True, capture_output=True, timeout=300,
        )  # fmt: skip

    return call


def test_a_race_of_an_own_level_is_replayed_and_explained(called: Called, tmp_path: Path) -> None:
    """By the lines that a refusal prints; also that which marking has written."""
    assert BLIND != ANSWER
    for folder in (tmp_path, tmp_path / "answers/ada"):
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "level_11.py").write_text(BLIND, encoding="utf-8")
    refused = called("learn", "11", "--check", "level_11.py")
    assert refused.returncode == 1
    again = re.search(r"^Again: testbed (.*)$", refused.stdout, re.MULTILINE)
    assert again is not None
    assert called(*again[1].split()).returncode == 1
    called("grade", "answers", "--level", "11", "--csv", "marks.csv", "--races", "races")
    race = "races/ada-level_11.race.yaml"
    told = called("explain", race, "--policy", "level_11.py", "--page", "page.html")
    assert (told.returncode, told.stderr) == (1, "")
    assert (tmp_path / "page.html").exists()


@pytest.mark.parametrize(
    ("was", "now", "said"),
    [
        ("number=11", "number=1", "lost_count.py and last_ticket.py are both level 1"),
        ("LEVEL = Learn", "LEVLE = Learn", "last_ticket.py: no level stands in it"),
        ('{"tickets": 2}', '{"tikets": 2}', "last_ticket.py, trial 'two tickets': "),
        ("def last_ticket(", "def first_ticket(", "last_ticket.py: "),
        ("answer=2", "answer=3", "answer: expected 1 to 2, not 3"),
    ],
)
def test_what_is_wrong_with_it_is_told_to_who_wrote_it(
    called: Called, tmp_path: Path, was: str, now: str, said: str
) -> None:
    """Before any student is told that an answer is refused."""
    text = LEVEL.replace(was, now).replace("build=last_ticket", f"build={now[4:-1]}")
    text = text if now.startswith("def") else LEVEL.replace(was, now)
    assert text != LEVEL
    (tmp_path / "own/last_ticket.py").write_text(text, encoding="utf-8")
    done = called("learn", "11")
    assert (done.returncode, done.stdout) == (2, "")
    assert said in done.stderr


def test_an_answer_to_a_question_is_one_of_its_choices() -> None:
    """Counted from 1."""
    with pytest.raises(ValueError, match="answer: expected 1 to 2, not 0"):
        GuessFirst(question="?", choices=("a", "b"), answer=0, why="")
