"""testbed mutants: the table, the exit code, and what it says of what is no mutant."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from textwrap import dedent

import pytest

from testbed.cli import main

MINE = """
    from testbed.testing.mutant import Mutant
    from testbed.objects import Note

    def build(world):
        world.add(Note("n"))

    MUTANTS = (Mutant("harmless", "does nothing", build, "no_actor_dies"),)
"""


@pytest.fixture
def mine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A package of the user's own, in the current folder."""
    (tmp_path / "my_actors").mkdir()
    (tmp_path / "my_actors" / "__init__.py").write_text("")
    (tmp_path / "my_actors" / "mutants.py").write_text(dedent(MINE))
    monkeypatch.chdir(tmp_path)
    for name in ("my_actors", "my_actors.mutants"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    return tmp_path / "my_actors" / "mutants.py"


def test_the_table_says_who_killed_what_and_when(capsys: pytest.CaptureFixture[str]) -> None:
    """A line for each, by the claim that must; all that are named were killed, so it exits 0."""
    assert main(["mutants", "actors.apiserver", "--only", "unpaid", "--only", "held"]) == 0
    lines = [line.split()[:3] for line in capsys.readouterr().out.splitlines()]
    assert lines[:3] == [
        ["mutant", "killed", "by"],
        ["held", "pods_are_given_their_time", "1"],
        ["unpaid", "evictions_keep_to_budgets", "1"],
    ]
    assert lines[-1] == ["Killed", "2", "of"]


def test_without_a_package_all_of_them_are_hunted(capsys: pytest.CaptureFixture[str]) -> None:
    """Those of every package of actors that keeps some."""
    assert main(["mutants", "--only", "unpaid", "--json"]) == 0
    (line,) = json.loads(capsys.readouterr().out)["mutants"]
    assert (line["package"], line["mutant"], line["killed"]) == ("actors.apiserver", "unpaid", True)
    assert line["said"].startswith("poddisruptionbudgets/default/b granted the eviction of ")


def test_a_survivor_is_named_with_the_line_that_hunts_it_on(
    capsys: pytest.CaptureFixture[str], mine: Path
) -> None:
    """It exits 1, says what else has fired, and ends in a line to paste."""
    assert main(["mutants", "my_actors", "--runs", "3"]) == 1
    out = capsys.readouterr().out.splitlines()
    assert out[1].split() == ["harmless", "nobody", "3", "does", "nothing"]
    assert out[-2:] == [
        "harmless outlives no_actor_dies.",
        "Next: testbed mutants my_actors --only harmless --runs 30",
    ]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["no_such_package"], "no_such_package has no mutants: No module named"),
        (["actors"], "actors has no mutants"),
        (["actors.apiserver", "--only", "unpayed"], "Did you mean 'unpaid'?"),
    ],
)
def test_what_is_no_mutant_is_refused(
    capsys: pytest.CaptureFixture[str], words: list[str], said: str
) -> None:
    """With what there is instead; exit 2."""
    assert main(["mutants", *words]) == 2
    assert said in capsys.readouterr().err


def test_a_list_of_something_else_is_refused(
    capsys: pytest.CaptureFixture[str], mine: Path
) -> None:
    """It says what was expected there."""
    mine.write_text("MUTANTS = ('held',)")
    assert main(["mutants", "my_actors"]) == 2
    assert "expected MUTANTS, a tuple of Mutants, found ('held',)" in capsys.readouterr().err
