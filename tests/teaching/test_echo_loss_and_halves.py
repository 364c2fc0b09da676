"""Levels 3 to 5: what they say of their Worlds is so, and each of their claims can be breached."""

from __future__ import annotations

from typing import Any

import pytest

from scenarios.levels.wrong.asked_twice import TakesLossForDone
from scenarios.levels.wrong.half_moved import (
    DeletesWithoutAnAnswer,
    MovesAllAtOnce,
    TakesACopyForAll,
)
from scenarios.levels.wrong.late_echo import (
    CreatesOnceOnly,
    DeletesTheSurplus,
    TakesNoAnswerForYes,
)
from testbed.choosers.complete import Complete
from testbed.client.actor import Actor
from testbed.errors import ScenarioError
from testbed.faults.crash import Crash
from testbed.maps.mapping import state_map
from testbed.teaching.answer import answering
from testbed.teaching.checking import check
from testbed.teaching.ladder import level_of
from testbed.world.scenario import find, play_runs
from testbed.world.world import World
from tests.each_row import each_row
from tests.teaching.right.half_moved import CopiesThenDeletes, DoesTheNextStep

STATES_MAX = 2_000


def outcomes_of(name: str, **how: Any) -> list[str]:
    """Which outcomes the Runs of a complete search have."""
    found = set()

    def look(world: World) -> bool:
        assert world.verdict is not None
        found.add(world.verdict.outcome)
        return "violated" not in found

    chooser = Complete(keeps=False)
    play_runs(find(name), chooser, look, runs_max=5_000, driver="direct", **how)
    assert chooser.is_complete or "violated" in found
    return sorted(found - {"undecided"})


@each_row(("want", "counts"), [(1, [1]), (2, [2, 3])])
def test_so_many_pods_can_there_be_in_level_3(want: int, counts: list[int]) -> None:
    """The answer to its question, by every order of the careless controller."""
    found = set()

    def look(world: World) -> bool:
        found.add(len(world.store.snapshot("pods/")))
        return True

    chooser = Complete(keeps=False)
    switches = {"want": want}
    play_runs(find("late_echo"), chooser, look, runs_max=500, switches=switches, driver="direct")
    assert chooser.is_complete
    assert sorted(found) == counts
    level = level_of(3)
    assert level.guess.choices[level.guess.answer - 1] == "2 or 3"


@pytest.mark.parametrize(
    ("number", "answer", "said"),
    [
        (3, DeletesTheSurplus, "web wants 2 pods and has 3"),
        (3, CreatesOnceOnly, "web wants 2 pods and has 1 in the end"),
        (3, TakesNoAnswerForYes, "web wants 1 pod and has none in the end"),
        (4, TakesLossForDone, "there is no Job for 0900"),
        (5, DeletesWithoutAnAnswer, "menu is nowhere"),
        (5, TakesACopyForAll, "in the end, notes/blue/menu should not be there"),
    ],
    ids=lambda each: each.__name__ if isinstance(each, type) else None,
)
def test_a_refusal_says_what_is_wrong(number: int, answer: type[Actor], said: str) -> None:
    """In a sentence with the names and the numbers of that World."""
    refused = check(level_of(number), answer).refused
    assert refused is not None
    assert refused.said.startswith(said)


def test_too_few_pods_for_half_a_minute_is_too_long() -> None:
    """Also if the Run goes on: the create takes longer than that."""
    switches = {"create_takes_ms": 31_000, "want": 1, "deletes": True}
    world = find("late_echo").world(switches)
    verdict = world.run(Complete(keeps=False), driver="direct")
    (violation,) = verdict.violations
    assert violation.said == "web wants 1 pod and has none for too long"


def test_a_visitor_may_come_between_two_tasks() -> None:
    """Where nothing crashes, and the Note is there in the end."""
    switches = {"mover.program": "MovesAllAtOnce", "edits": True}
    with answering(level_of(5), MovesAllAtOnce):
        assert "violated" in outcomes_of("half_moved", switches=switches)


@pytest.mark.parametrize(
    ("answer", "outcome"),
    [
        (CopiesThenDeletes, "violated"),
        pytest.param(DoesTheNextStep, "held", marks=pytest.mark.long),
    ],
)
def test_no_answer_need_bear_a_crash_and_a_writing_visitor(
    answer: type[Actor], outcome: str
) -> None:
    """Why the scenario of level 5 never has both: a good answer would be refused. One that reads
    the copy first would not."""
    faults = (Crash("mover", restart_after_ms=0),)
    switches = {"mover.program": answer.__name__, "edits": True}
    with answering(level_of(5), answer):
        assert outcomes_of("half_moved", switches=switches, faults=faults)[-1] == outcome


@pytest.mark.parametrize("name", ["late_echo", "asked_twice", "half_moved"])
def test_a_small_world_of_each_has_a_map(name: str) -> None:
    """It is complete, has the race of the careless program, and fits on a page."""
    found = state_map(find(name), states_max=STATES_MAX)
    assert found is not None
    assert {end.outcome for end in found.ends} == {"held", "violated"}


@each_row(
    ("name", "switches"),
    [
        ("late_echo", {"want": 0}),
        ("late_echo", {"want": 6}),
        ("asked_twice", {"times": "0900,0900"}),
        ("asked_twice", {"names": ""}),
        ("half_moved", {"items": "menu,menu"}),
        ("half_moved", {"target": "blue"}),
    ],
    ids=str,
)
def test_a_world_that_makes_no_sense_is_refused(name: str, switches: dict[str, Any]) -> None:
    """Before anything is played."""
    with pytest.raises(ScenarioError, match="expected"):
        find(name).world(switches)
