"""testbed mutants: the table, the exit code, and what it says of what is no mutant."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from textwrap import dedent

import pytest

from testbed.cli import main
from testbed.world.scenario import find

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


# -- what claims are worth ------------------------------------------------------------------------

CLAIMS = """
    from testbed import always

    def nothing_is_wrong(see):
        return None

    def claims():
        return [always(nothing_is_wrong)]
"""


def test_a_scenario_is_asked_what_its_claims_notice(capsys: pytest.CaptureFixture[str]) -> None:
    """A line for each, with what was set otherwise and which claim noticed it."""
    assert main(["mutants", "--scenario", "lost_update", "--scenario", "two_defaults"]) == 0
    out = capsys.readouterr().out.splitlines()
    assert [line.split()[:3] for line in out[1:3]] == [
        ["lost_update", "guard=off", "every_signature_is_kept"],
        ["two_defaults", "guard=off", "there_is_one_default"],
    ]
    assert out[-1] == "Of 2 scenarios, 0 vacuous."
    assert main(["mutants", "--scenario", "lost_update", "--json"]) == 0
    (told,) = json.loads(capsys.readouterr().out)["scenarios"]
    assert (told["switch"], told["is_vacuous"]) == ("guard=off", False)


def test_a_vacuous_scenario_is_named(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And it exits 1."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "idle_one.py").write_text("def idle(world, *, guard: bool = False):\n    pass\n")
    assert main(["mutants", "--scenario", "idle_one.py:idle", "--runs", "3"]) == 1
    last = capsys.readouterr().out.splitlines()[-1]
    assert last == "idle_one:idle is vacuous: its claims notice nothing that is set otherwise."


def test_claims_of_ones_own_are_asked_in_every_world(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One that finds nothing is told as vacuous, and it exits 1."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("testbed.cli.worth.known", lambda: [find("lost_update")])
    monkeypatch.setattr("testbed.cli.worth.packages_with_mutants", lambda: ["actors.apiserver"])
    monkeypatch.setattr("testbed.cli.worth.RUNS_MAX", 1)
    (tmp_path / "own_claims.py").write_text(dedent(CLAIMS))
    assert main(["mutants", "--user", "own_claims.py:claims", "--jobs", "1"]) == 1
    out = capsys.readouterr().out
    assert re.search(r"^nothing_is_wrong +0 of \d+ +nothing: it is vacuous$", out, re.MULTILINE)
    assert main(["mutants", "--user", "own_claims.py:claims", "--json"]) == 1
    (told,) = json.loads(capsys.readouterr().out)["claims"]
    assert told == {"claim": "nothing_is_wrong", "finds": {}, "alarms": {}}


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--user", "own_claims.py"], "which function or class of it is meant"),
        (["--user", "own_claims.py:claim"], "Known: claims, nothing_is_wrong"),
        (["--user", "own_claims.py:claims", "--only", "held"], "it hunts no mutant"),
        (["actors.cloud", "--scenario", "lost_update"], "it hunts no mutant"),
        (["--scenario", "lost_updat"], "Did you mean 'lost_update'"),
    ],
)
def test_what_can_not_be_asked_is_refused(
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    words: list[str],
    said: str,
) -> None:
    """With what to say instead."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "own_claims.py").write_text(dedent(CLAIMS))
    monkeypatch.delitem(sys.modules, "own_claims", raising=False)
    assert main(["mutants", *words]) == 2
    assert said in capsys.readouterr().err
