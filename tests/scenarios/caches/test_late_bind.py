"""late_bind: an answer that is lost, a watch that is late, and a place that is given away twice."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Any

import pytest

from testbed.choosers.calm import Calm
from testbed.objects import condition
from testbed.races.playing import Played, play
from testbed.races.race import Race
from testbed.races.racefile import parse
from testbed.world.scenario import find
from tests.models.worlds.shelved import race_named

RECIPE = find("late_bind")
RACE = race_named("late_bind")


def races() -> Iterator[tuple[str, str, Race]]:
    """Each bind whose answer may be lost, with each pod of which each news may come too late."""
    for lost, late, nth in product("cd", "cd", (1, 2)):
        held = f"delivery of pods/default/{late}#{nth} to default-scheduler"
        text = (
            f"scenario: late_bind\nholds:\n  - {{hold: '{held}', until: quiet}}\n"
            f"faults:\n  - lose_reply: default-scheduler bind pods/default/{lost}\n"
        )
        yield f"{lost} lost", f"{late}#{nth} late", parse(text, "race")


def violated(guard: str) -> list[tuple[str, str]]:
    """Under which of these a place is given twice."""
    return [
        (lost, late)
        for lost, late, race in races()
        if play(race, RECIPE, switches={"guard": guard}).verdict.is_violated
    ]


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
    """If the answer to the first bind is lost and the first news of that pod, the bind, is late."""
    assert violated("off") == [("c lost", "c#1 late")]


@pytest.mark.spec("SCH-65", "INV-7")
def test_whoever_asks_first_does_not() -> None:
    """While it asks, the pod stays assumed, and its place is taken: under each of these races."""
    assert violated("on") == []


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


@pytest.mark.parametrize("switches", [{"scheduler.queue": "fifo"}, {"profile": "alpha"}])
def test_it_is_over_though_a_line_tries_again_each_minute(switches: dict[str, str]) -> None:
    """Whatever queue its scheduler has: the pod that finds no room does not keep the Run going."""
    assert RECIPE.world(switches).run(Calm(), driver="direct").is_held


def test_the_guard_costs_nobody_its_place() -> None:
    """Guarded, under the same race, the pod whose answer was lost runs; the other one waits."""
    played = replayed(kubelet="on", guard="on")
    assert played.verdict.is_held
    assert [pod_of(played, name).status.phase for name in "cd"] == ["Running", "Pending"]
