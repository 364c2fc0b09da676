"""half_placed: a volume without its pod, and who is bound to its node after the restart."""

from __future__ import annotations

from typing import Any

import pytest

from testbed.races.playing import Played, play
from testbed.races.racefile import parse
from testbed.world.scenario import find
from tests.models.worlds.shelved import race_named

RECIPE = find("half_placed")
RACE = race_named("half_placed")
LATE = """
scenario: half_placed
holds:
  - hold: default-scheduler/bind-red patch nodes/n1
    until: default-scheduler@2 bind pods/default/blue
faults:
  - crash: default-scheduler
    at: 1500ms
    restart: 5s
"""


def nodes(played: Played) -> dict[str, str]:
    """Where each pod is."""
    pods: list[Any] = [e.value for e in played.world.store.snapshot("pods/")]
    return {pod.meta.name: pod.spec.node_name for pod in pods}


@pytest.mark.spec("SCH-43", "SCH-8")
def test_the_pod_of_the_volume_is_pending_for_ever() -> None:
    """On the one node is the other replica, and the other node has not its volume, as the issue
    says. The next life takes blue first, which red was before."""
    played = play(RACE, RECIPE, switches={"guard": "off"}, goes_on=True)
    assert nodes(played) == {"blue": "n1", "red": ""}
    told = [r for r in played.world.table.records if r.name == "cycle"]
    assert [r.facts["pod"].rpartition("/")[2] for r in told] == ["red", "blue", "red"]
    message = told[-1].facts["message"]
    assert "1 node(s) had volume node affinity conflict" in message
    assert "1 node(s) didn't match pod anti-affinity rules" in message


@pytest.mark.spec("SCH-43")
def test_a_place_with_a_volume_counts_as_taken() -> None:
    """So blue goes to the other node, and red where its volume is."""
    played = play(RACE, RECIPE, switches={"guard": "on"})
    assert played.verdict.is_held, str(played.verdict)
    assert nodes(played) == {"blue": "n2", "red": "n1"}


@pytest.mark.parametrize(("guard", "red"), [("off", ""), ("on", "n2")])
def test_a_volume_that_comes_after_the_crash_is_refused(guard: str, red: str) -> None:
    """When blue has the node. Guarded, red is free to go to the other one."""
    played = play(parse(LATE, "late"), RECIPE, switches={"guard": guard}, goes_on=True)
    assert all(fate.took_place for fate in played.fates)
    assert played.verdict.is_held is (guard == "on")
    assert nodes(played) == {"blue": "n1", "red": red}
