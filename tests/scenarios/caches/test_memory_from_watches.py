"""memory_from_watches: a scheduler that was killed works out again how full a node is."""

from __future__ import annotations

import pytest

from scenarios.caches.memory_from_watches import allocatable_stays
from testbed import World
from testbed.objects import Node
from testbed.world.scenario import find
from tests.models.clusters.calm_story import calm_story, story_of


@pytest.mark.spec("SCH-43")
def test_its_next_life_knows_what_is_left() -> None:
    """C waits on, which is too large by half, and small is bound to the rest."""
    world = find("memory_from_watches").world()
    wrong, seen = story_of(world)
    assert wrong == ""
    assert seen == ["0 bind a n1", "0 bind b n1", "15 create small", "15 bind small n1"]
    tried = [record for record in world.table.records if record.name == "waits"]
    assert [record.facts["pod"] for record in tried] == ["pods/default/c"] * 2
    assert [record.now_ms for record in tried] == [0, 12_000]


def test_who_does_not_count_binds_them_all() -> None:
    """Without the filter for resources; which breaks the claim."""
    wrong, _ = calm_story("memory_from_watches", {"scheduler.filters": "-NodeResourcesFit"})
    assert wrong == ("on n1 are pods/default/a, pods/default/b, pods/default/c, pods/default/small")


def test_a_node_that_shrinks_is_told() -> None:
    """The claim about what is allocatable."""
    world = World("test")
    world.add(Node.of("n1", cpu_m=200))
    assert allocatable_stays(world.evidence) == "nodes/n1 has 200m allocatable cpu, and had 1000m"
