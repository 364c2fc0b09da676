"""preemption_loop: what one scheduler makes room for, another fills, until it heeds nominations."""

from __future__ import annotations

import pytest

from testbed.choosers.calm import Calm
from testbed.races.playing import play
from testbed.races.racefile import parse
from testbed.world.scenario import find
from testbed.world.world import World
from tests.models.worlds.shelved import race_named

RECIPE = find("preemption_loop")
RACE = race_named("preemption_loop")
LATE = """
scenario: preemption_loop
holds:
  - hold: delivery of DELETED pods/default/batch-* to scheduler-2
    until: scheduler-1 bind pods/default/important
"""


def bound(world: World) -> list[str]:
    """When which pod was bound, by the first part of its name."""
    return [
        f"{r.now_ms} {r.facts['pod'].rpartition('/')[2].partition('-')[0]}"
        for r in world.table.records
        if r.name == "bound"
    ]


def victims(world: World) -> int:
    """How often room was made."""
    made = (record for record in world.table.records if record.name == "cycle")
    return sum(record.facts["said"].startswith("made room for") for record in made)


@pytest.mark.spec("SCH-109", "INV-20")
def test_a_pod_dies_every_ten_seconds_for_one_that_never_runs() -> None:
    """That is 17,280 in two days. The important pod is nominated to the node all the time."""
    played = play(RACE, RECIPE, switches={"guard": "off"})
    (violation,) = played.verdict.violations
    assert violation.said.startswith("for ever, a lap of 39 writes in 30,000 ms, played 3 more")
    assert bound(played.world)[-3:] == ["57000 batch", "67000 batch", "77000 batch"]
    assert (victims(played.world), len(bound(played.world))) == (11, 11)
    entry = played.world.store.peek("pods/default/important")
    assert entry is not None
    assert entry.value.status.nominated_node_name == "n1"  # type: ignore[attr-defined]


@pytest.mark.spec("SCH-109")
@pytest.mark.parametrize(("grace_s", "at_ms"), [(5, 6_500), (20, 21_500)])
def test_it_ends_once_scheduler_2_is_late(grace_s: int, at_ms: int) -> None:
    """If it hears of the free room when the important pod is bound, one victim is all. The same
    where the victim takes longer than any backoff."""
    given = {"guard": "off", "grace_s": str(grace_s)}
    assert RECIPE.world(given).run(Calm(), driver="direct").is_violated
    played = play(parse(LATE, "late"), RECIPE, switches=given)
    assert played.verdict.is_held, str(played.verdict)
    assert bound(played.world) == ["0 batch", f"{at_ms} important"]
    assert victims(played.world) == 1


@pytest.mark.spec("SCH-109")
def test_who_heeds_all_nominations_leaves_the_room_to_the_important_pod() -> None:
    """It has it when its only victim is gone; and the pod of the ReplicaSet waits."""
    played = play(RACE, RECIPE, switches={"guard": "on"})
    assert played.verdict.is_held, str(played.verdict)
    assert bound(played.world) == ["0 batch", "6500 important"]
    assert victims(played.world) == 1
    waits = [r for r in played.world.table.records if r.path == "scheduler-2/main"]
    assert "Too many pods" in waits[-2].said
