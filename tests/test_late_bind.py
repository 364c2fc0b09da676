"""late_bind: an answer that is lost, a watch that is late, and a place that is given away twice."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from testbed.choosers.uniform import Uniform
from testbed.objects import condition
from testbed.racefile import load
from testbed.racing import Played, play
from testbed.scenario import find, play_runs
from testbed.world import World

RECIPE = find("late_bind")
RACE = load(str(Path(__file__).parent / "races/late_bind.race.yaml"))


def violated(guard: str, runs: int) -> int:
    """In how many of so many Runs of random choices a place is given twice."""
    found = 0

    def look(world: World) -> bool:
        nonlocal found
        assert world.verdict is not None
        found += world.verdict.is_violated
        return True

    play_runs(RECIPE, Uniform(1), look, runs_max=runs, switches={"guard": guard}, driver="direct")
    return found


def replayed(**switches: str) -> Played:
    """The race, as its file has it."""
    return play(RACE, RECIPE, switches=switches)


def pod_of(played: Played, name: str) -> Any:
    """A pod as it is in the end."""
    entry = played.world.store.peek(f"pods/default/{name}")
    assert entry is not None
    return entry.value


@pytest.mark.spec("SCH-65", "INV-7")
def test_whoever_trusts_an_error_gives_a_place_twice() -> None:
    """Rarely: the answer to just one request, and the news of just that."""
    assert violated("off", 200) > 0


@pytest.mark.spec("SCH-65", "INV-7")
def test_whoever_asks_first_does_not() -> None:
    """While it asks, the pod stays assumed, and its place is taken."""
    assert violated("on", 300) == 0


@pytest.mark.spec("SCH-65", "INV-7", "KUB-8")
def test_the_kubelet_refuses_who_came_second() -> None:
    """What was bound twice runs once: the node runs who was there first."""
    played = replayed(kubelet="on", guard="off")
    assert [violation.invariant for violation in played.verdict.violations] == [
        "no_place_is_given_twice"
    ]
    ends = [pod_of(played, name).status for name in "cd"]
    assert [(end.phase, end.reason) for end in ends] == [("Running", ""), ("Failed", "OutOfcpu")]


@pytest.mark.spec("SCH-67")
def test_what_is_said_of_the_bound_pod_mixes_two_states() -> None:
    """The patch says what is new since the pod was taken from the queue; it was bound since."""
    said = condition.find(pod_of(replayed(guard="off"), "c").status.conditions, "PodScheduled")
    assert said is not None
    assert said.reason == "SchedulerError"


def test_the_guard_costs_nobody_its_place() -> None:
    """Guarded, under the same race, the pod whose answer was lost runs; the other one waits."""
    played = replayed(kubelet="on", guard="on")
    assert played.verdict.is_held
    assert [pod_of(played, name).status.phase for name in "cd"] == ["Running", "Pending"]
