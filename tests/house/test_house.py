"""The tree keeps the rules of the house; and each rule is seen to catch what it is there for."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
import tomllib
from collections import defaultdict
from pathlib import Path

import pytest

from tests.house.floor_plan import read_rooms
from tests.house.house import (
    CROWDED,
    DOORS,
    EXEMPT,
    FINDERS,
    OUTSIDE,
    PACKAGES,
    House,
    crowded_folders,
    inspect,
    unused_exemptions,
    unused_rooms,
)
from tests.house.manners import RIDDLES_MAX, others_words, riddles

ROOT = Path(__file__).parent.parent.parent
ROOMS = read_rooms(ROOT)
RULES = "docs/house.md tells the rules and why"


def test_the_tree_keeps_the_rules_of_the_house() -> None:
    """No file breaks a rule, but where tests/house/house.py says why it may; and an exemption that
    nothing needs is taken back."""
    found = inspect(ROOT)
    assert not found, "\n".join([f"{len(found)} complaints; {RULES}", *map(str, found)])
    unused = [f"{e.where} {e.rule} {e.what}" for e in unused_exemptions(ROOT)]
    assert not unused, f"take these out of EXEMPT in tests/house/house.py: {unused}"


def test_the_rooms_are_the_tree() -> None:
    """What a room's order names is there: no place is kept for a file that does not exist."""
    absent = House(ROOMS).absent(ROOT)
    assert not absent, f"rooms name what is not there: {', '.join(absent)}"


def test_every_room_says_what_it_is_for_and_what_it_may_use() -> None:
    """And in which order its files stand, or that they are siblings."""
    for path in ROOMS:
        if path not in ("", "testbed"):
            said = (ROOT / path / "__init__.py").read_text(encoding="utf-8")
            assert re.search(r"^May use: ", said, re.MULTILINE), path
            assert re.search(r"^(In order|Siblings): ", said, re.MULTILINE), path


RESTS = {"Calm", "Uniform", "Drawn", "Sampler", "Struck", "Deviating", "Bounded", "_Ending"}
"""The Choosers that draw or derive what they choose, and let no fault strike at rest."""


def test_a_chooser_says_whether_a_fault_may_strike_at_rest() -> None:
    """One that plays choices again must strike where they did, or the Run ends there. So each has
    a `strike`, or stands in RESTS."""
    rests = set()
    for path in sorted((ROOT / "testbed").rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ClassDef):
                bases = {base.id for base in node.bases if isinstance(base, ast.Name)}
                does = {each.name for each in node.body if isinstance(each, ast.FunctionDef)}
                if bases & {"Chooser", "Exhaustive"} and "choose" in does and "strike" not in does:
                    rests.add(node.name)
    assert rests == RESTS


def test_a_room_uses_what_it_says_it_may() -> None:
    """A line that nothing needs any more is taken back, so that the lines stay true."""
    unused = unused_rooms(ROOT)
    assert not unused, f"take these out of `May use:`: {', '.join(unused)}"


def test_no_folder_is_crowded() -> None:
    """Nobody looks over more than 24 files; nor 33 entries of the whole testbed."""
    assert crowded_folders(ROOT) == []
    entries = [path for path in (ROOT / "testbed").iterdir() if path.name != "__pycache__"]
    assert len(entries) <= 33


def test_the_exceptions_are_few() -> None:
    """A list of more than three is a rule that does not fit; and the crowded folder is one."""
    assert max(map(len, (EXEMPT, FINDERS, CROWDED))) <= 3


def test_the_map_in_the_docs_is_the_house() -> None:
    """docs/house.md draws the rooms of the testbed, each with what stands in it, in their order."""
    page = (ROOT / "docs/house.md").read_text()
    drawn = page.partition("## The map")[2].partition("\nThe programs under test")[0]
    rows = re.findall(r"^\| (`.+?) \|", drawn, re.MULTILINE)
    told = [name.rstrip("/") for row in rows for name in re.findall(r"`([\w/]+)`", row)]
    assert told == [name for name in ROOMS["testbed"].order if name != "__init__"]


def test_no_page_and_no_test_says_a_word_of_others() -> None:
    """But where docs/house.md says that it is never said, and here."""
    pages = [*ROOT.glob("*.md"), *ROOT.glob("docs/*.md"), *ROOT.glob("tests/**/*.py")]
    found = []
    for path in sorted(pages):
        text = path.read_text(encoding="utf-8")
        if path.name == "house.md":
            text = re.sub(r"\|[^|\n]*\|$", "", text, flags=re.MULTILINE)
        if path.name not in ("manners.py", "test_house.py"):
            found += [f"{path.relative_to(ROOT)}:{line}: {w}" for line, w in others_words(text)]
    assert not found, "\n".join(["say the words of docs/house.md", *found])


def test_the_linter_bans_what_has_a_door() -> None:
    """pyproject.toml keeps the same doors, so that an editor says it before this test does."""
    with (ROOT / "pyproject.toml").open("rb") as file:
        lint = tomllib.load(file)["tool"]["ruff"]["lint"]
    banned = set(lint["flake8-tidy-imports"]["banned-api"])
    assert banned == {name for name, door in DOORS.items() if door != "*"}
    let_in = {path for path, rules in lint["per-file-ignores"].items() if "TID251" in rules}
    doors = {
        re.sub(r"\*$", "**", d) for door in DOORS.values() if door != "*" for d in door.split()
    }
    assert let_in == doors | {"tests/**"}


def test_importing_the_testbed_opens_no_door() -> None:
    """`import testbed` loads no dependency that has a door: the facade is lazy."""
    doors = sorted(name for name, door in DOORS.items() if door != "*")
    code = f"import sys, testbed; print(*[name for name in {doors} if name in sys.modules])"
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert done.stdout.split() == []


def test_ci_runs_the_commands_of_the_readme() -> None:
    """The two commands that README.md promises are, to the letter, those that .ci/run runs."""
    begins = ("python3 -m venv .venv && ", ".venv/bin/python -m pytest")
    lines = [line.partition("#")[0].strip() for line in _lines("README.md")]
    promised = [next((line for line in lines if line.startswith(b)), f"{b}…") for b in begins]
    run = [line.strip().removeprefix("exec ") for line in _lines(".ci/run")]
    assert [command for command in promised if command not in run] == []


def _lines(name: str) -> list[str]:
    return (ROOT / name).read_text(encoding="utf-8").splitlines()


def module(body: str = "", path: str = "testbed/store/store.py") -> dict[str, str]:
    """A tree of one well-behaved file that ends in `body`."""
    return {path: f'"""A module."""\n{body}'}


def function(lines: int) -> str:
    """A function of so many lines."""
    return 'def long() -> None:\n    """Do it."""\n' + "    pass\n" * (lines - 2)


BASE = 'class Base:\n    """It."""\n\n    def go(self) -> None:\n        """Go."""\n'

BAD = {
    "a later import": (
        module("from testbed.world.world import World\n"),
        "testbed/store/store.py:2: order: imports testbed.world.world",
    ),
    "a later import by its package": (
        module("from testbed import world\n"),
        "testbed/store/store.py:2: order: imports testbed.world",
    ),
    "a later import, relative": (
        module("from ..world.world import World\n"),
        "testbed/store/store.py:2: order: imports testbed.world.world",
    ),
    "the facade from within": (
        module("from testbed import World\n"),
        "testbed/store/store.py:2: order: imports testbed:",
    ),
    "a later import inside a function": (
        module("def _f() -> None:\n    import testbed.world.world\n"),
        "testbed/store/store.py:3: order: imports testbed.world.world",
    ),
    "an earlier import inside a function": (
        module("def _f() -> None:\n    import testbed.errors\n"),
        "testbed/store/store.py:3: late: imports testbed.errors",
    ),
    "an import by name": (
        module('import importlib\nW = importlib.import_module("testbed.world")\n'),
        "testbed/store/store.py:3: late: import_module",
    ),
    "a later import for types": (
        module(
            "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    import testbed.world.world\n"
        ),
        "testbed/store/store.py:4: type: imports testbed.world.world",
    ),
    "an actor by name": (
        module("import actors.scheduler\n", "testbed/world/world.py"),
        "testbed/world/world.py:2: order: imports actors.scheduler",
    ),
    "a sibling": (
        module("from testbed.faults.stall import Stall\n", "testbed/faults/crash.py"),
        "testbed/faults/crash.py:2: sibling: imports testbed.faults.stall",
    ),
    "a sibling scenario": (
        module("import scenarios.slots.stolen_slot\n", "scenarios/slots/double_bind.py"),
        "scenarios/slots/double_bind.py:2: sibling: imports scenarios.slots.stolen_slot",
    ),
    "a sibling's folder": (
        module("from actors.kubelet.kubelet import X\n", "actors/scheduler/queue/heap.py"),
        "actors/scheduler/queue/heap.py:2: sibling: imports actors.kubelet.kubelet",
    ),
    "an actor beside a proving ground's own, elsewhere": (
        module("from actors.apiserver.server import ApiServer\n", "actors/scheduler/mutants.py"),
        "actors/scheduler/mutants.py:2: sibling: imports actors.apiserver.server",
    ),
    "the siblings' folder": (
        module("from testbed import faults\n", "testbed/faults/crash.py"),
        "testbed/faults/crash.py:2: order: imports testbed.faults",
    ),
    "a room that may not be used": (
        module("from testbed.store.store import Store\n", "testbed/testing/seek.py"),
        "testbed/testing/seek.py:2: room: imports testbed.store.store: testbed/testing/ may not",
    ),
    "a later room of the same folder": (
        module("from actors.scheduler.writes.bind import X\n", "actors/scheduler/queue/heap.py"),
        "actors/scheduler/queue/heap.py:2: order: imports actors.scheduler.writes.bind",
    ),
    "a module without a place": (
        module(path="testbed/gadget.py"),
        "testbed/gadget.py:1: unlisted: testbed/gadget has no place",
    ),
    "an import without a place": (
        module("import testbed.gadget\n"),
        "testbed/store/store.py:2: unlisted: imports testbed.gadget",
    ),
    "a dependency beside its door": (
        module("import trio\n"),
        "testbed/store/store.py:2: door: imports trio: its door is testbed/turns/drivers/trio.py",
    ),
    "a dependency's part, for types, in a function": (
        module("def _f() -> None:\n    from trio.lowlevel import Task\n", "testbed/turns/table.py"),
        "testbed/turns/table.py:3: door: imports trio.lowlevel",
    ),
    "a dependency without a door": (
        module("import pandas\n"),
        "testbed/store/store.py:2: door: imports pandas: a dependency without a door",
    ),
    "the inside of the testbed in an actor": (
        module("from testbed.turns.table import Seat\n", "actors/controllers/writer.py"),
        "actors/controllers/writer.py:2: room: imports testbed.turns.table",
    ),
    **{
        f"{name} in an actor": (
            module(f"import {name}\n", "actors/controllers/writer.py"),
            f"actors/controllers/writer.py:2: {rule}: imports {name}",
        )
        for name, rule in [("trio", "actor"), ("random", "actor"), ("os", "actor")]
    },
    **{
        f"{name}, {path}": (
            module(f"from {name} import x\n", path),
            f"{path}:2: outside: imports {name}",
        )
        for name in OUTSIDE
        for path in (
            "testbed/store/store.py",
            "actors/controllers/writer.py",
            "scenarios/basics/lost_update.py",
        )
    },
    "global random": (
        module("import random\n\nX = random.random()\n"),
        "testbed/store/store.py:4: outside: random.random",
    ),
    "global random, taken out": (
        module("from random import choice\n"),
        "testbed/store/store.py:2: outside: random.*",
    ),
    "a Random without a seed": (
        module("from random import Random\n\nX = Random()\n"),
        "testbed/store/store.py:4: outside: Random()",
    ),
    "chance from the machine": (
        module("import os\n\nX = os.urandom(8)\n"),
        "testbed/store/store.py:4: outside: os.urandom",
    ),
    "an address": (module("X = id(object())\n"), "testbed/store/store.py:2: outside: id:"),
    "an address as a key": (
        module("X = sorted([], key=id)\n"),
        "testbed/store/store.py:2: outside: id:",
    ),
    "a hash": (module("X = hash('x')\n"), "testbed/store/store.py:2: outside: hash:"),
    "the order of a set, walked": (
        module("for _x in {1, 2}:\n    pass\n"),
        "testbed/store/store.py:2: outside: set:",
    ),
    "the order of a set, listed": (
        module("X = list(set('ab'))\n"),
        "testbed/store/store.py:2: outside: set:",
    ),
    "the order of a set, comprehended": (
        module("X = [x for x in frozenset('ab')]\n"),
        "testbed/store/store.py:2: outside: set:",
    ),
    "a long file": (module("\n" * 400), "testbed/store/store.py:401: long: 401 lines"),
    "a long function": (module(function(51)), "testbed/store/store.py:2: long: long: 51 lines"),
    "a module without a docstring": (
        {"testbed/store/store.py": "X = 1\n"},
        "testbed/store/store.py:1: docstring: the module",
    ),
    "a class without a docstring": (
        module("class Thing:\n    pass\n"),
        "testbed/store/store.py:2: docstring: Thing",
    ),
    "a method without a docstring": (
        module('class Thing:\n    """It."""\n\n    async def go(self) -> None: ...\n'),
        "testbed/store/store.py:5: docstring: go",
    ),
    "a method whose base says nothing of it": (
        module(f'{BASE}\n\nclass Own(Base):\n    """It."""\n\n    def stop(self) -> None: ...\n'),
        "testbed/store/store.py:12: docstring: stop",
    ),
    "a file that says nothing": (
        module(path="actors/writer/utils.py"),
        "actors/writer/utils.py:1: word: utils",
    ),
    "a class that says nothing": (
        module('class KeyManager:\n    """It."""\n'),
        "testbed/store/store.py:2: word: KeyManager",
    ),
    "a function that says nothing": (
        module("def _write_helper() -> None: ...\n"),
        "testbed/store/store.py:2: word: _write_helper",
    ),
    "a word of others in a name": (
        module("CHAOS_MAX = 3\n"),
        "testbed/store/store.py:2: word: chaos: what it means has a word of ours",
    ),
    "a word of others in a sentence": (
        module("# It asks oracles.\n"),
        "testbed/store/store.py:2: word: oracle: what it means has a word of ours",
    ),
    "a file that does not parse": (module("def\n"), "testbed/store/store.py:2: syntax"),
}


@pytest.mark.parametrize(("tree", "expected"), BAD.values(), ids=BAD.keys())
def test_a_bad_tree_is_named(tree: dict[str, str], expected: str, tmp_path: Path) -> None:
    """Each rule names the file, the line, itself and what it found; and says nothing else."""
    found = [str(complaint) for complaint in inspect(lay_out(tree, tmp_path), ROOMS)]
    assert any(text.startswith(expected) for text in found), found
    lines = {text.split(" ")[0] for text in found}
    assert len(lines) == 1, f"one line is bad, several are named: {found}"


GOOD = {
    "an earlier import": module("from testbed.errors import Conflict\n"),
    "a folder's own siblings": module(
        "import testbed.faults.crash\n", "testbed/faults/__init__.py"
    ),
    "a folder that one sibling grew into": module(
        "from actors.scheduler.queue.heap import Heap\n", "actors/scheduler/schedule_one.py"
    ),
    "what an actor knows": module(
        "from testbed import Client\nfrom testbed.errors import Conflict\n"
        "from testbed.objects.note import Note\n",
        "actors/controllers/writer.py",
    ),
    "what a scenario knows": module(
        "from actors.controllers.writer import Writer\nfrom testbed import World\n",
        "scenarios/basics/lost_update.py",
    ),
    "a door": module("import trio\n", "testbed/turns/drivers/trio.py"),
    "a door that is a folder": module("import click\n", "testbed/cli/commands/run.py"),
    "a late import in a door": module(
        "def _f() -> None:\n    import testbed.world.world\n", "testbed/cli/commands/run.py"
    ),
    "an exemption": module("import time\n", "testbed/cli/benches/turns.py"),
    "a seeded Random": module("from random import Random\n\nX = Random(7).getrandbits(8)\n"),
    "a hash of its own": module(
        'class Thing:\n    """It."""\n\n    def __hash__(self) -> int:\n        return hash(1)\n'
    ),
    "whether there is a hash": module("hash(())\n"),
    "a method that its base has told of": {
        **module(f'{BASE}\n\nclass Middle(Base):\n    """It."""\n', "testbed/fault.py"),
        **module(
            "from testbed import fault\n\n\nclass Own(fault.Middle):\n"
            '    """It."""\n\n    def go(self) -> None: ...\n',
            "testbed/faults/crash.py",
        ),
    },
    "a sorted set": module("X = [x for x in sorted({1, 2})]\n"),
    "a function of fifty lines": module(function(50)),
    "a private name": module("def _f() -> None: ...\n"),
}


@pytest.mark.parametrize("tree", GOOD.values(), ids=GOOD.keys())
def test_a_good_tree_is_left_in_peace(tree: dict[str, str], tmp_path: Path) -> None:
    """No rule forbids what the house does every day."""
    assert inspect(lay_out(tree, tmp_path), ROOMS) == []


def lay_out(tree: dict[str, str], root: Path) -> Path:
    """Write a tree of files below `root`."""
    for name, text in tree.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return root


def test_docstrings_are_plain() -> None:
    """Few words at which readers stumble: fewer than three in a thousand."""
    paths = [p for package in PACKAGES for p in sorted((ROOT / package).rglob("*.py"))]
    found, words = riddles(ast.parse(path.read_text(encoding="utf-8")) for path in paths)
    assert found * 1000 <= RIDDLES_MAX * words, f"{found} in {words} words; see RIDDLES in manners"
    assert riddles([ast.parse('"""To whom it may concern, whoever that is."""')]) == (2, 8)


def test_no_public_class_name_stands_twice() -> None:
    """A reader who meets a name knows which class is meant."""
    homes = defaultdict(list)
    for package in ("testbed", "actors"):
        for path in sorted((ROOT / package).rglob("*.py")):
            tree = ast.parse(path.read_text(encoding="utf-8"))
            for node in ast.walk(tree):
                if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                    homes[node.name].append(f"{path.relative_to(ROOT)}:{node.lineno}")
    twice = {name: places for name, places in homes.items() if len(places) > 1}
    assert not twice, twice
