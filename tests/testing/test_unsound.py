"""The mutants of the complete search: each misses a class where the search itself misses none."""

from __future__ import annotations

import json

import pytest

from testbed.choosers.complete import Complete
from testbed.choosers.uniform import Uniform
from testbed.cli import main
from testbed.testing.complete import mutants
from testbed.testing.complete.edits import edited
from testbed.testing.complete.mutants import MUTANTS
from testbed.testing.complete.unsound import Unsound, every_class, seen_by
from testbed.testing.complete.worlds import Scene
from tests.each_row import each_row
from tests.models.worlds.small_worlds import Brute

SCENES = {name: scene for name, scene in vars(mutants).items() if isinstance(scene, Scene)}
BRUTE_MAX, SAMPLED = 200, 150


@each_row("mutant", MUTANTS, ids=lambda mutant: mutant.name)
def test_each_is_killed(mutant: Unsound) -> None:
    """It comes to an end and calls itself complete, without a class that the search as it is sees;
    and nothing of it stays behind."""
    parts = [vars(owner)[part] for owner, part, _ in mutant.edits]
    hunt = mutant.hunted(runs_max=300, seed=0, switches=None)
    assert hunt.is_killed
    assert [vars(owner)[part] for owner, part, _ in mutant.edits] == parts


def test_there_are_enough_of_them() -> None:
    """Twenty or more, of different names, each another edit; and no World is there for nothing."""
    assert len({mutant.name for mutant in MUTANTS}) == len(MUTANTS) >= 20
    assert len({mutant.edits for mutant in MUTANTS}) == len(MUTANTS)
    assert {mutant.scene for mutant in MUTANTS} == {*SCENES.values()}


@each_row("name", SCENES)
def test_the_search_as_it_is_misses_nothing_there(name: str) -> None:
    """It sees the classes of every Run there is; where there are too many, those of many Runs."""
    expected = every_class(SCENES[name])
    every, runs = seen_by(Brute(), SCENES[name], BRUTE_MAX)
    assert every.forms() <= expected
    if runs < BRUTE_MAX:
        assert every.forms() == expected
    else:
        assert seen_by(Uniform(0), SCENES[name], SAMPLED)[0].forms() <= expected


def test_the_witness_believes_nothing_of_the_search() -> None:
    """It sees what was played, with the parts of the search in place again: an edit that changes
    nothing is not killed, and one that makes the search play more is not either."""
    expected = every_class(mutants.SWAPS)
    with edited([(Complete, "_did", lambda true: true)]):
        same, _ = seen_by(Complete(keeps=False), mutants.SWAPS)
    assert same.forms() == expected
    with edited([(Complete, "_is_due_to", lambda _: lambda self, first, fault: False)]):
        more, _ = seen_by(Complete(keeps=False), mutants.STORELESS)
    assert more.forms() == every_class(mutants.STORELESS)


def test_the_command_hunts_them(capsys: pytest.CaptureFixture[str]) -> None:
    """By the name of the search, though they stand where Worlds are known."""
    words = ["mutants", "testbed.choosers.complete", "--json"]
    assert main([*words, "--only", "nothing-left-over", "--only", "never-wakes"]) == 0
    first, second = json.loads(capsys.readouterr().out)["mutants"]
    assert first["mutant"] == "never-wakes"
    assert second["breaks"] == "what the last turn has withdrawn is not tried"
    assert (second["killed"], second["said"]) == (True, "it misses 1 of 4 classes")
