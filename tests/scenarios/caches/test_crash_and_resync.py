"""crash_and_resync: a scheduler that resumes in the past kills who bears the name of its victim."""

from __future__ import annotations

import pytest

from testbed.choosers.uniform import Uniform
from testbed.races.playing import play
from testbed.world.scenario import find, play_runs
from testbed.world.world import World
from tests.models.worlds.shelved import race_named

RECIPE = find("crash_and_resync")
RACE = race_named("crash_and_resync")


def violated(guard: str, runs: int) -> int:
    """In how many of that many Runs of random choices the wrong pod dies."""
    found = 0

    def look(world: World) -> bool:
        nonlocal found
        assert world.verdict is not None
        found += world.verdict.is_violated
        return True

    play_runs(RECIPE, Uniform(1), look, runs_max=runs, switches={"guard": guard}, driver="direct")
    return found


@pytest.mark.spec("SCH-98", "SCH-117", "SCH-121")
def test_a_deletion_by_name_kills_another_pod() -> None:
    """In one Run of five, wherever the crash strikes."""
    assert violated("off", 20) > 1


@pytest.mark.spec("SCH-98", "SCH-117", "SCH-121")
def test_a_deletion_by_uid_does_not() -> None:
    """It is refused, and the scheduler tries again when it knows more."""
    assert violated("on", 60) == 0


@pytest.mark.spec("SCH-99", "SCH-121")
def test_the_urgent_pod_gets_its_place_in_the_end() -> None:
    """Guarded: the wrong pod is spared, and has a node of its own; the urgent one has the node that
    its victim has left."""
    world = play(RACE, RECIPE, switches={"guard": "on"}).world
    found = {
        entry.value.meta.name: entry.value.spec.node_name  # type: ignore[attr-defined]
        for entry in world.store.snapshot("pods/")
    }
    assert found == {"db": "n2", "urgent": "n1"}
