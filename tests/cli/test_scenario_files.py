"""A scenario named by its file: the commands work from the folder that the file lies in."""

from __future__ import annotations

import json
import re
import shlex
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from testbed.cli import main

Told = Callable[[str], tuple[int, str, str]]
MINE = """\
from stock import title
from scenarios.basics.lost_update import lost_update

def race(world, *, guard=False):
    lost_update(world, guard=guard)
"""
DECOY = "raise RuntimeError('another module of that name')\n"
LATE = """\
scenario: mine:race
holds:
  - hold: alpha update notes/default/list
    until: beta get notes/default/list
expect: {violates: every_signature_is_kept}
"""


@pytest.fixture
def told(own: Path, capsys: pytest.CaptureFixture[str]) -> Told:
    """A scenario in a folder `shop`, with a module beside it that it imports. Where the user is,
    and first among all imports, lie others of the same names."""
    shop, decoys = own / "shop", own / "decoys"
    for folder in (shop, decoys):
        folder.mkdir()
    (shop / "mine.py").write_text(MINE)
    (shop / "stock.py").write_text("title = 'all we have'\n")
    for folder in (own, decoys):
        for name in ("mine.py", "stock.py"):
            (folder / name).write_text(DECOY)
    (own / "race.yaml").write_text(LATE)
    sys.path.insert(0, str(decoys))

    def call(line: str) -> tuple[int, str, str]:
        capsys.readouterr()
        code = main(shlex.split(line))
        done = capsys.readouterr()
        return code, done.out, done.err

    return call


BESIDE, ABSOLUTE = "shop/mine.py:race", "{own}/shop/mine.py:race"


@pytest.mark.parametrize(
    ("line", "code", "where"),
    [
        ("run {file} --seed 1 --switch guard=on", 0, BESIDE),
        ("run {file} --seed 3 --twice", 1, BESIDE),
        ("sweep {file} --fault crash --restart-ms 0", 0, BESIDE),
        ("search {file} --runs 60", 1, BESIDE),
        ("search {file} --runs 60 --jobs 2 --switch guard=on", 0, BESIDE),
        ("explain race.yaml --scenario {file}", 1, BESIDE),
        ("replay race.yaml --scenario {file} --twice", 1, BESIDE),
        ("check race.yaml --scenario {file}", 0, BESIDE),
        ("keep race.yaml --scenario {file}", 0, BESIDE),
        ("run {file} --seed 3 --twice", 1, ABSOLUTE),
        ("search {file} --runs 60", 1, ABSOLUTE),
        ("check race.yaml --scenario {file}", 0, ABSOLUTE),
    ],
)
def test_a_file_is_played_from_the_folder_it_lies_in(
    told: Told, own: Path, line: str, code: int, where: str
) -> None:
    """What it imports from beside it is found, and no module of the same name from elsewhere; also
    by the commands that are printed to be pasted."""
    done = told(line.replace("{file}", where.replace("{own}", str(own))))
    assert (done[0], "Error" in done[2]) == (code, False)
    for again in re.findall(r"(?:Again|Recorded|By hand): (testbed .*)", done[1]):
        words = [sys.executable, "-m", "testbed", *shlex.split(again)[1:]]
        ran = subprocess.run(words, cwd=own, capture_output=True, text=True)
        assert (ran.returncode in (code, 1), "Error" in ran.stderr) == (True, False)


def test_a_file_is_played_where_the_user_is(
    told: Told, own: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And a recorded Run of it is replayed as it says."""
    monkeypatch.chdir(own / "shop")
    assert told("run mine.py:race --seed 3 --trace t.jsonl")[::2] == (1, "")
    assert told("replay t.jsonl --scenario-path .")[::2] == (1, "")
    assert told("explain t.jsonl --scenario mine.py:race")[::2] == (1, "")


def test_a_file_in_a_package_may_import_from_its_package(told: Told, own: Path) -> None:
    """It is imported as a part of that, and its race says so."""
    (own / "shop/__init__.py").touch()
    (own / "shop/mine.py").write_text(MINE.replace("from stock", "from .stock"))
    code, out, err = told("search shop/mine.py:race --runs 60")
    assert (code, "Error" in err) == (1, False)
    (file,) = (own / "races").glob("*.race.yaml")
    assert "shop.mine:race" in file.read_text()
    assert " --scenario shop/mine.py:race\n" in out


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("shop/none.py:race", "shop/none.py: there is no such file.\nNext: name a Python file"),
        (
            "shop/mine.py",
            "which function or class of it is meant?\nNext: name that, too, as in shop/mine.py:r",
        ),
        ("shop/mine.py:rase", "there is no function or class of mine 'rase'"),
        ("shop/my-race.py:race", "'my-race' is no name of a module"),
        ("shop/time.py:race", "shop/time.py: another module of that name comes first, a part of"),
        ("shop/queue.py:race", "shop/queue.py: another module of that name comes first"),
        ("shop/mine.py:race --scenario-path shop", "Next: leave it out."),
    ],
)
@pytest.mark.parametrize("command", ["run", "sweep --fault crash", "search", "replay"])
def test_a_file_that_cannot_be_played_is_told(
    told: Told, own: Path, command: str, name: str, said: str
) -> None:
    """What was expected, and what to do next."""
    for file in ("my-race.py", "queue.py", "time.py"):
        (own / "shop" / file).write_text(MINE)
    if command == "replay":
        if "--" in name:
            return
        named = f"{Path(name.partition(':')[0]).stem}:{name.partition(':')[2]}"
        (own / "race.yaml").write_text(LATE.replace("mine:race", named))
        name = f"race.yaml --scenario {name}"
    code, _, err = told(f"{command} {name}")
    assert (code, said in err, "Next: " in err) == (2, True, True), err


def test_a_race_names_another_scenario_than_the_file(told: Told) -> None:
    """Then nothing is imported, as with a module's name."""
    code, _, _ = told("check race.yaml --scenario shop/stock.py:race")
    assert (code, "stock" in sys.modules) == (2, False)


# -- run --faults ---------------------------------------------------------------------------------


def as_json(done: tuple[int, str, str]) -> dict[str, Any]:
    """What a command with --json has printed."""
    assert done[2] == ""
    found: dict[str, Any] = json.loads(done[1])
    return found


def test_a_run_takes_the_faults_of_a_search(told: Told) -> None:
    """They strike, with their settings; the line to paste has them, and makes the same Run."""
    struck = as_json(told("run lost_update --seed 5 --faults '2*crash:alpha,restart=1s' --json"))
    assert struck["faults"] == 1
    assert as_json(told(f"{struck['again'].removeprefix('testbed ')} --json")) == struck
    assert told(f"{struck['again'].removeprefix('testbed ')} --twice")[0] in (0, 1)
    assert as_json(told("run lost_update --seed 5 --json"))["faults"] == 0


def test_a_run_without_faults_has_none(told: Told) -> None:
    """Not even those that the scenario allows."""
    for seed in range(5):
        done = as_json(told(f"run twice_created --seed {seed} --faults none --json"))
        assert (done["faults"], "--faults none" in done["again"]) == (0, True)
    some = [as_json(told(f"run twice_created --seed {n} --json"))["faults"] for n in range(5)]
    assert max(some) > 0


@pytest.mark.parametrize(
    ("faults", "said"),
    [
        ("crush", "there is no fault 'crush'"),
        ("crash:alfa", "Did you mean 'alpha'?"),
        ("crash,none", "expected faults, or none of them"),
    ],
)
def test_faults_that_cannot_be_are_told(told: Told, faults: str, said: str) -> None:
    """As those of a search."""
    code, _, err = told(f"run lost_update --faults {faults}")
    assert (code, said in err) == (2, True), err


# -- explain of several ---------------------------------------------------------------------------


def test_several_files_are_explained_each_under_its_name(told: Told, own: Path) -> None:
    """As each alone is; a file that cannot be played keeps no other from being told."""
    (own / "held.yaml").write_text("scenario: lost_update\n")
    (own / "bad.yaml").write_text("scenario: lost_updaet\n")
    alone = told("explain race.yaml --scenario-path shop")
    code, out, err = told("explain race.yaml bad.yaml held.yaml --scenario-path shop")
    assert (code, err) == (2, "")
    first, race, bad, held = out.split("== ")
    assert (first, race) == ("", f"race.yaml\n\n{alone[1]}\n")
    assert bad.startswith("bad.yaml\n\nRaceRefused: ")
    assert held.startswith("held.yaml\n\n")
    assert "Held. Looked at" in held
    code, out, err = told("explain race.yaml bad.yaml held.yaml --scenario-path shop --json")
    explained = json.loads(out)["explained"]
    assert [one.get("verdict", "bad") for one in explained] == ["violated", "bad", "held"]
    assert (code, json.loads(out)["code"], "lost_updaet" in explained[1]["error"]) == (2, 2, True)
    assert told("explain race.yaml held.yaml --scenario-path shop --md")[1].count("\n---\n") == 1
    assert told("explain held.yaml held.yaml")[0] == 0


def test_what_one_scenario_raises_is_told_with_the_others(told: Told, own: Path) -> None:
    """Its file says where and what."""
    (own / "shop/wild.py").write_text("def wild(world):\n    raise ValueError('mine')\n")
    (own / "wild.yaml").write_text("scenario: wild:wild\n")
    code, out, _ = told("explain wild.yaml race.yaml --scenario-path shop")
    assert (code, "wild raised ValueError: mine" in out) == (2, True)
    assert "== race.yaml" in out


def test_a_run_with_faults_is_recorded_with_them(told: Told) -> None:
    """So its trace replays, and is explained, though its scenario allows no fault."""
    faults = "--faults crash:alpha,restart=1s"
    assert told(f"run lost_update --seed 5 {faults} --trace t.jsonl")[0] == 1
    code, out, err = told("replay t.jsonl")
    assert (code, err, "The same to the byte as recorded" in out) == (1, "", True)
    assert told("explain t.jsonl")[::2] == (1, "")
