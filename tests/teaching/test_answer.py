"""Answers: a file that is no answer is refused with what to do, before any of it is run."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from testbed.errors import ScenarioError
from testbed.policy import own
from testbed.teaching.answer import answering
from testbed.teaching.ladder import level_of

LEVEL = level_of(1)
HEAD = "from scenarios.levels.lost_count import Clerk\nfrom testbed import Client\n\n\n"
CLASS = "class MyClerk(Clerk):\n"
RUN = "    async def run(self, client: Client) -> None:\n        "
BAD = {
    "": "it is empty; expected a class derived from Clerk",
    "x = 1\n": "no class stands in it; expected one derived from Clerk",
    "class MyClerk(Clerk)\n": "line 1: Python cannot read it: expected ':'.",
    HEAD + CLASS + "    pass\n": "MyClerk: it has no `run`",
    HEAD + CLASS + "    def run(self, client):\n        pass\n": "its `run` is no `async def`",
    HEAD + CLASS + "    run = 3\n": "its `run` is no function",
    HEAD + CLASS + "    async def run(self):\n        pass\n": "cannot be called with a Client",
    HEAD + CLASS + RUN + "pass\n" + "class Other(Clerk):\n" + RUN + "pass\n":
        "MyClerk and Other are both derived from Clerk; expected one class",
    HEAD + "class Other:\n" + RUN + "pass\n": "no class there is derived from Clerk, only Other",
    HEAD + CLASS + "    def __init__(self, a):\n        pass\n" + RUN + "pass\n": "cannot be made",
    "import os\n" + HEAD + CLASS + RUN + "os.remove('x')\n": "line 1: it imports os",
    "import trio\n" + HEAD + CLASS + RUN + "pass\n": "line 1: it imports trio",
    "from testbed.policy import use\n" + HEAD + CLASS + RUN + "pass\n": "it imports testbed.policy",
    "from . import x\n" + HEAD + CLASS + RUN + "pass\n": "it imports a file beside it",
    HEAD + CLASS + RUN + "print(1)\n": "line 7: it uses `print`",
    HEAD + CLASS + RUN + "open('x')\n": "line 7: it uses `open`",
    HEAD + CLASS + RUN + "raise SystemExit\n": "line 7: it uses `SystemExit`",
    HEAD + CLASS + RUN + "client._wire\n": "it reaches for `client._wire`, which is private",
    HEAD + CLASS + RUN + "().__class__\n": "it reaches for `().__class__`, which is private",
    HEAD + CLASS + "    seen = []\n" + RUN + "pass\n": "`[]` stands outside of `run`",
    HEAD + "seen = {}\n" + CLASS + RUN + "pass\n": "line 5: `{}` stands outside of `run`",
    HEAD + "while True:\n    pass\n" + CLASS + RUN + "pass\n": "runs when the file is imported",
    HEAD + CLASS + RUN + "MyClerk.taken = True\n": "it sets `MyClerk.taken`",
    HEAD + CLASS + RUN + "self.count = 1\n": "the fields of an actor cannot change",
    HEAD + CLASS + RUN + "global seen\n": "`global seen`: two programs",
    HEAD + CLASS + "    async def run(self, client, seen=[]):\n        pass\n": "`[]` is made once",
}  # fmt: skip


def written(folder: Path, text: str, name: str = "mine.py") -> Path:
    """A file with that text."""
    file = folder / name
    file.write_text(text, encoding="utf-8")
    return file


@pytest.mark.parametrize("text", BAD, ids=lambda text: BAD[text][:40])
def test_a_file_that_is_no_answer_is_refused_with_the_next_step(text: str, tmp_path: Path) -> None:
    """It says where, what is wrong, and what to do; and nothing of it stays loaded."""
    file = written(tmp_path, text)
    with pytest.raises(ScenarioError) as caught, answering(LEVEL, file):
        pass
    said = str(caught.value)
    assert BAD[text] in said
    assert str(file) in said
    assert "\nNext: " in said
    assert "mine" not in sys.modules


def test_nothing_of_a_refused_file_is_run(tmp_path: Path) -> None:
    """An import that would leave a trace is refused by its text alone."""
    text = f"import pathlib\npathlib.Path({str(tmp_path / 'trace')!r}).touch()\n"
    with pytest.raises(ScenarioError), answering(LEVEL, written(tmp_path, text + HEAD + CLASS)):
        pass
    assert not (tmp_path / "trace").exists()


@pytest.mark.parametrize("name", ["nothing.py", "folder.py", "mine.txt", "json.py", "1.py"])
def test_a_name_that_is_no_python_file_of_an_answer_is_refused(name: str, tmp_path: Path) -> None:
    """No file, a folder, another kind, and names that no module of a student's may have."""
    file = tmp_path / name
    if name == "folder.py":
        file.mkdir()
    elif name != "nothing.py":
        file.write_text(HEAD + CLASS + RUN + "pass\n", encoding="utf-8")
    with pytest.raises(ScenarioError, match="Next: "), answering(LEVEL, file):
        pass


def test_an_answer_may_have_what_it_needs(tmp_path: Path) -> None:
    """Parts of Python that look at nothing outside, constants, classes and functions of its own."""
    text = (
        "import json\nfrom dataclasses import dataclass\n"
        + HEAD
        + "RETRY_MS = 2 * 500\nKINDS = ('a', -1)\n\n\n"
        + "@dataclass\nclass Memory:\n    count: int = 0\n\n\n"
        + "class Plain:\n    def __init__(self) -> None:\n        self.seen: list[str] = []\n\n\n"
        + CLASS
        + '    """Counts."""\n\n    step: int = 1\n\n'
        + RUN
        + "memory = Memory()\n        memory.count += self._more(1)\n\n"
        + "    def _more(self, one: int) -> int:\n        return one + RETRY_MS\n"
    )
    with answering(LEVEL, written(tmp_path, text)) as answer:
        assert answer.__name__ == "MyClerk"
        assert own()["MyClerk"] is answer


def test_two_files_of_one_name_are_two_answers(tmp_path: Path) -> None:
    """A class is marked in one process: each file is let go of when it was checked."""
    found = []
    for number in (1, 2):
        folder = tmp_path / str(number)
        folder.mkdir()
        file = written(folder, HEAD + CLASS + f"    number: int = {number}\n" + RUN + "pass\n")
        with answering(LEVEL, file) as answer:
            found.append(answer.__dict__["number"])
        assert "MyClerk" not in own()
    assert found == [1, 2]


def test_a_file_that_is_edited_within_a_second_is_read_again(tmp_path: Path) -> None:
    """No compiled code of the text before is taken for it, and none is left beside it."""
    for number in (1, 2):
        file = written(tmp_path, HEAD + CLASS + f"    number: int = {number}\n" + RUN + "pass\n")
        with answering(LEVEL, file) as answer:
            assert answer.__dict__["number"] == number
    assert [path.name for path in tmp_path.iterdir()] == ["mine.py"]
