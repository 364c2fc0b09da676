"""crash_and_resync: a scheduler that resumes in the past kills who bears the name of its victim."""

from __future__ import annotations

import pytest

from testbed.races.playing import play
from testbed.world.scenario import find
from tests.models.worlds.shelved import race_named

RECIPE = find("crash_and_resync")
RACE = race_named("crash_and_resync")


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
