"""phantom_nomination: room that is kept for a pod that is gone, however often another is tried."""

from __future__ import annotations

from typing import Any

import pytest

from scenarios.nominations.phantom_nomination import phantom_nomination
from testbed.choosers.calm import Calm
from testbed.races.playing import Played, play
from testbed.world.scenario import find, of
from testbed.world.world import World
from tests.models.worlds.shelved import race_named

RECIPE = find("phantom_nomination")
LONG_MS = 1_000_000


def for_minutes(world: World, *, guard: bool = False) -> None:
    """The same, until the queue has been flushed a few times."""
    phantom_nomination(world, guard=guard)
    world.limit(until_ms=LONG_MS)


def replayed(guard: str) -> Played:
    """The race, for minutes."""
    recipe = of(for_minutes, "for_minutes")
    race = race_named("phantom_nomination")
    return play(race, recipe, switches={"guard": guard}, goes_on=True)


def tries_of_batch(world: World) -> list[tuple[int, str]]:
    """When the pod of the other user was tried, and what came of it."""
    return [
        (record.now_ms, record.facts.get("node") or record.facts["message"].partition(".")[0])
        for record in world.table.records
        if record.name == "cycle" and record.facts["pod"] == "pods/default/batch"
    ]


@pytest.mark.spec("SCH-47", "SCH-59")
def test_it_waits_beside_an_empty_node_however_often_it_is_tried() -> None:
    """No flush helps: the pod that the room is kept for will not come, nor be deleted again."""
    played = replayed("off")
    (violation,) = played.verdict.violations
    assert violation.said == (
        "default-scheduler: pods/default/urgent is nominated to n1, and is bound or gone"
    )
    refused = "0/1 nodes are available: 1 Insufficient cpu"
    tries = tries_of_batch(played.world)
    assert [said for _, said in tries] == [refused] * 4
    assert tries[-1][0] > 900_000
    pods: list[Any] = [entry.value for entry in played.world.store.snapshot("pods/")]
    assert [(pod.meta.name, pod.spec.node_name) for pod in pods] == [("batch", "")]


@pytest.mark.spec("SCH-47")
def test_a_pod_that_is_gone_is_not_nominated() -> None:
    """Guarded, under the same race, the victim was deleted in vain, and the other pod is bound at
    its first try."""
    played = replayed("on")
    assert not played.verdict.violations
    assert tries_of_batch(played.world) == [(3000, "n1")]


@pytest.mark.spec("SCH-49")
def test_a_pod_that_is_deleted_between_two_cycles_leaves_no_nomination() -> None:
    """Without a guard, if nobody is late: the handler finds the nomination, and drops it."""
    world = RECIPE.world({"guard": "off"})
    assert world.run(Calm(), driver="direct").is_held
    nominated = [r.facts.get("nominated") for r in world.table.records if r.name == "cycle"]
    assert nominated[0] == "n1"
    assert tries_of_batch(world) == [(3000, "n1")]
