"""Answers: a file that is no answer is refused with what to do, before any of it is run."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import attrs
import pytest

from testbed.errors import ScenarioError
from testbed.policy import own, use
from testbed.teaching import answer as answer_module
from testbed.teaching import checking
from testbed.teaching.answer import answering
from testbed.teaching.checking import KEEPS, check
from testbed.teaching.ladder import level_of
from testbed.turns import watchdog
from tests.teaching.marking.keepers import KEEPERS

LEVEL = level_of(1)
HEAD = "from scenarios.levels.lost_count import Clerk\nfrom testbed import Client\n\n\n"
CLASS = "class MyClerk(Clerk):\n"
RUN = "    async def run(self, client: Client) -> None:\n        "
UNCHANGED = "two programs, and two lives of one program, would share it"
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
    HEAD + CLASS + "    async def run(self, client, f=lambda seen=[]: seen):\n        pass\n":
        "line 6: the default `[]` is made once",
    HEAD + "taken = lambda seen={}: seen\n" + CLASS + RUN + "pass\n": "`{}` is made once",
    HEAD + CLASS + RUN + "del MyClerk.taken\n": "it deletes `MyClerk.taken`",
    HEAD + CLASS + RUN + "del self.stock\n": "the fields of an actor cannot change",
    HEAD + CLASS + RUN + "for self.stock in 'ab':\n            pass\n":
        "line 7: it sets `self.stock`, but the fields of an actor cannot change",
    HEAD + "import attrs\n@attrs.frozen\n" + CLASS + RUN + "for self.stock in 'ab':\n            "
    "pass\n": "line 9: it sets `self.stock`, but the fields",
    HEAD + CLASS + RUN + "for MyClerk.seen in 'ab':\n            pass\n": "it sets `MyClerk.seen`",
    HEAD + CLASS + RUN + "type(self).seen = 1\n": "it sets `type(self).seen`",
    HEAD + CLASS + RUN + "Client.seen['a'] = 1\n": "it sets `Client.seen['a']`",
    "import contextlib\n" + HEAD + CLASS + RUN + "contextlib.sys.modules['os'].remove('x')\n":
        "line 8: it reaches the module sys by `contextlib.sys`",
    "import re as r\n" + HEAD + CLASS + RUN + "r.enum.sys\n": "the module enum by `r.enum`",
    "from json import codecs\n" + HEAD + CLASS + RUN + "pass\n": "the module codecs by `codecs`",
    "from testbed import policy\n" + HEAD + CLASS + RUN + "pass\n": "the module testbed.policy by",
    HEAD + "class Odd(list([])):\n    pass\n" + CLASS + RUN + "pass\n": "`list([])` runs when",
    HEAD + "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    pass\nelse:\n    seen = []\n"
    + CLASS + RUN + "pass\n": "line 9: `[]` stands outside of `run`",
    HEAD + CLASS + RUN + "match client:\n            case Client(_table=t): pass\n":
        "line 8: it reaches for `_table`, which is private",
    HEAD + CLASS + RUN + "match client:\n            case {'a': Client(name=str(_wire=1))}: pass\n":
        "it reaches for `_wire`, which is private",
    HEAD + CLASS + RUN + "f'{client._wire!r:>{client}}'\n": "`client._wire`, which is private",
    HEAD + CLASS + RUN + "'{0.name._wire}'.format(client)\n":
        "reaches for `_wire`, which is private",
    HEAD + CLASS + RUN + "global _seen\n": "`global _seen`",
    HEAD + CLASS + RUN + "(x for x in '').gi_frame\n": "`(x for x in '').gi_frame`",
    HEAD + CLASS + RUN + "__builtins__\n": "it reaches for `__builtins__`, which is private",
    HEAD + "class Odd:\n    __match_args__ = ('_wire',)\n" + CLASS + RUN + "pass\n":
        "line 6: it reaches for `__match_args__`, which is private",
    HEAD + "class Odd:\n    def __getattr__(self, name):\n        pass\n" + CLASS + RUN + "pass\n":
        "it defines `__getattr__`, by which Python reaches more",
    "from testbed import World\n" + HEAD + CLASS + RUN + "pass\n": "it takes `World` of testbed",
    "from testbed.errors import HarnessBug\n" + HEAD + CLASS + RUN + "pass\n":
        "line 1: it takes `HarnessBug` of testbed.errors: it is not for programs of a World",
    "import operator as o\n" + HEAD + CLASS + RUN + "o.attrgetter('a')\n":
        "it takes `attrgetter` of operator: it goes by a text",
    "from scenarios.levels.lost_count import LEVEL\n" + HEAD + CLASS + RUN + "pass\n":
        "it takes `LEVEL` of scenarios.levels.lost_count",
    HEAD + "Seen = frozenset([[]])\n" + CLASS + RUN + "pass\n": "stands outside of `run`",
}  # fmt: skip
DECORATED = {
    "import functools\n": "functools.cache",
    "import functools as attrs\n": "attrs.lru_cache(maxsize=None)",
    "from functools import cache as property\n": "property",
    "from functools import cached_property\n": "cached_property",
    "def staticmethod(of):\n    return of\n\n\n": "staticmethod",
    "from contextlib import ContextDecorator\n": "ContextDecorator()",
}
"""What a file may not decorate with, by how the name comes there."""


def written(folder: Path, text: str, name: str = "mine.py") -> Path:
    """A file with that text."""
    file = folder / name
    file.write_text(text, encoding="utf-8")
    return file


def told(file: Path) -> str:
    """What is told of a file that is no answer; empty if it is one."""
    try:
        with answering(LEVEL, file):
            return ""
    except ScenarioError as error:
        return str(error)


def test_a_file_that_is_no_answer_is_refused_with_the_next_step(tmp_path: Path) -> None:
    """It says where, what is wrong, and what to do; and nothing of it stays loaded."""
    for text, expected in BAD.items():
        file = written(tmp_path, text)
        said = told(file)
        assert expected in said, text
        assert str(file) in said
        assert "\nNext: " in said, text
        assert "mine" not in sys.modules, text


def test_what_keeps_the_result_of_a_call_may_not_decorate(tmp_path: Path) -> None:
    """`@cache def taken(): return []` gives all programs and lives one list, also by another
    name."""
    for imported, decorator in DECORATED.items():
        for within in ("", "    "):
            made = f"{within}@{decorator}\n{within}def taken(*_):\n{within}    return []\n\n\n"
            text = (CLASS + made if within else made + CLASS) + RUN + "pass\n"
            said = told(written(tmp_path, imported + HEAD + text))
            assert f"`@{decorator}` may keep what a call has left" in said, (imported, within)


def test_each_module_that_may_be_imported_is_there_when_a_file_is_read() -> None:
    """Else it could not be told whether a name of it is another module."""
    text = (
        "import sys\nfrom testbed.teaching.answer import answering\n"
        "from testbed.teaching.lending import OURS, PLAIN\n"
        "print([name for name in (*OURS, *PLAIN) if name not in sys.modules])"
    )
    asked = [sys.executable, "-c", text]
    assert subprocess.run(asked, capture_output=True, text=True, check=True).stdout == "[]\n"


def test_a_lock_kept_outside_of_run_is_found_wherever_it_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By the text, or by what it may set. If neither is looked at, nor what two programs are seen
    to hold, since a life of it does otherwise without the others; and if not that either, it
    passes."""
    files = {
        place: written(tmp_path, keeper.text, f"keeper_{number}.py")
        for number, (place, keeper) in enumerate(KEEPERS.items())
    }
    for place, file in files.items():
        assert told(file) or UNCHANGED in said_of(file), place
    monkeypatch.setattr(answer_module, "complaint_about", lambda *_: None)
    monkeypatch.setattr(answer_module, "run_file", lambda _: None)
    monkeypatch.setattr("testbed.client.wire.shared", lambda _: None)
    alone = f"{KEEPS}: beta, played without the others, goes on otherwise"
    for place, file in files.items():
        assert said_of(file).startswith(alone), place
    monkeypatch.setattr(checking, "try_alone", lambda _, held, __: held)
    for place, file in files.items():
        assert said_of(file) == "", place


def said_of(file: Path) -> str:
    """Why that answer is refused; empty if it passes the first trial."""
    level = attrs.evolve(LEVEL, trials=LEVEL.trials[:1])
    refused = check(level, file).refused
    return "" if refused is None else refused.said


def test_what_outlives_a_run_cannot_be_set_by_another_name(tmp_path: Path) -> None:
    """Classes, functions, members of enums: it is refused in the line that sets it. What was made
    in `run` can be set."""
    for thing in (
        "MyClerk", "type(self)", "Note", "helper", "Unavailable", "json.dumps", "re.A",
        "Colour.RED", "Plain()", "ValueError()",
    ):  # fmt: skip
        text = (
            "import enum\nimport json\nimport re\nfrom testbed import Unavailable\n"
            "from testbed.objects import Note\n" + HEAD
            + "class Colour(enum.Enum):\n    RED = 1\n\n\ndef helper():\n    pass\n\n\n"
            + "class Plain:\n    pass\n\n\n"
            + CLASS + RUN + f"by = {thing}\n        by.lock = 1\n        [0, 1][0] = 2\n"
        )  # fmt: skip
        said = said_of(written(tmp_path, text))
        may = thing in ("Plain()", "ValueError()")
        assert ("it says 7" if may else UNCHANGED) in said, thing


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
        + "memory = Memory()\n        memory.count += self._more(1)\n        copy = self\n"
        + "        _name = copy.name\n\n"
        + "    def _more(self, one: int) -> int:\n        return one + RETRY_MS\n"
    )
    with answering(LEVEL, written(tmp_path, text)) as answer:
        assert answer.__name__ == "MyClerk"
        assert own()["MyClerk"] is answer


def test_what_cannot_be_shared_is_let_through(tmp_path: Path) -> None:
    """Types, texts, frozen sets, plain decorators, helpers that count, what a call makes."""
    text = (
        "import json\nimport re\nfrom collections import namedtuple\nimport functools\n"
        "from collections.abc import Callable, Iterator\nfrom contextlib import contextmanager\n"
        "import attrs\n"
        + HEAD
        + "Names = dict[str, int]\nAsks = Callable[[int], str]\nMAX = 3\nTEXT = f'{MAX} at most'\n"
        + "KINDS = frozenset({'a'})\nWORD = re.compile('a+')\nPair = namedtuple('Pair', 'a b')\n"
        + "twice = lambda x, by=2: x * by\nBAD = json.JSONDecodeError\n\n\n"
        + "class Counter:\n    count = 0\n\n    def more(self) -> None:\n        "
        + "self.count += 1\n\n    @property\n    def all(self) -> int:\n        return self.count"
        + "\n\n    @all.setter\n    def all(self, to: int) -> None:\n        self.count = to\n\n\n"
        + "class Doubled(Counter):\n    def more(self) -> None:\n        self.count += 2\n\n\n"
        + "@contextmanager\ndef still() -> Iterator[None]:\n    yield\n\n\n"
        + "@attrs.frozen(kw_only=True)\n"
        + CLASS
        + RUN
        + "@functools.cache\n        def seen(of=[]): return of\n        seen()\n"
    )
    with answering(LEVEL, written(tmp_path, text)) as answer:
        assert answer.__name__ == "MyClerk"


def test_a_file_with_the_name_of_another_module_leaves_that_one_loaded(tmp_path: Path) -> None:
    """It is refused, in words that hold for a check, and Python's own json stays."""
    file = written(tmp_path, HEAD + CLASS + RUN + "pass\n", "json.py")
    before = sys.modules["json"]
    with pytest.raises(ScenarioError) as caught, answering(LEVEL, file):
        pass
    assert sys.modules["json"] is before
    assert str(caught.value).startswith(f"{file}: another module is called 'json'.\nNext: ")


def test_an_earlier_answer_of_that_name_stays_where_it_was(tmp_path: Path) -> None:
    """The module of a class that Python code has passed is not the answer's to take away."""
    here = type("MyClerk", (LEVEL.base,), {"__module__": __name__})
    use(here)
    before = sys.modules[__name__]
    with answering(LEVEL, written(tmp_path, HEAD + CLASS + RUN + "pass\n")) as answer:
        assert own()["MyClerk"] is answer is not here
    assert sys.modules[__name__] is before


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


@pytest.mark.parametrize(
    "turn", ["while True:\n            pass\n", "[[] for _ in itertools.count()]\n"]
)
def test_a_turn_that_does_not_end_is_refused_however_long_it_takes_to_die(
    turn: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """To free all these lists takes longer than the watchdog waits before it raises again, which
    then meets no frame of the answer."""
    monkeypatch.setattr(watchdog, "SECONDS", 0.02)
    file = written(tmp_path, "import itertools\n" + HEAD + CLASS + RUN + turn)
    refused = check(LEVEL, file).refused
    assert refused is not None
    assert (refused.runs, refused.race) == (1, "")
    assert refused.said == (
        "a turn of it does not end: a loop that never awaits gives no other program a turn"
    )
