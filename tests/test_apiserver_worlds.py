"""API servers in Worlds: what is there from the start, crashes, several over one Store."""

from __future__ import annotations

from typing import Any

import attrs
import pytest

from actors.apiserver import ApiServer
from testbed import World
from testbed.objects import (
    Map,
    Meta,
    Node,
    Note,
    Object,
    Pod,
    PodDisruptionBudget,
    PodStatus,
)


def world_of(*items: Object, served_first: bool = True) -> World:
    """A World with an API server and these objects, put together in either order."""
    world = World("test")
    if not served_first:
        world.add(*items)
    world.serve(lambda store: ApiServer(store))
    if served_first:
        world.add(*items)
    return world


def at(world: World, key: str) -> Any:
    """The object at a key."""
    entry = world.store.peek(key)
    return None if entry is None else entry.value


# -- what is there from the start ---------------------------------------------------------------


@pytest.mark.spec("API-8", "API-16")
@pytest.mark.parametrize("served_first", [True, False])
def test_what_is_there_from_the_start_came_by_the_server(served_first: bool) -> None:
    """Defaults, phase, quality of service, generation: as if it had been created; whichever was
    said first, the object or the server."""
    items = (Pod.of("p", cpu_m=100), PodDisruptionBudget("b"), Node.of("n1"), Note("n"))
    world = world_of(*items, served_first=served_first)
    pod = at(world, "pods/default/p")
    assert (pod.status.phase, pod.status.qos_class) == ("Pending", "Burstable")
    assert (pod.spec.scheduler_name, pod.spec.grace_s) == ("default-scheduler", 30)
    assert pod.meta.uid == "scenario-1"
    assert at(world, "poddisruptionbudgets/default/b").meta.generation == 1
    for item in items[2:]:
        assert at(world, item.key).is_as(attrs.evolve(item, meta=at(world, item.key).meta))


@pytest.mark.parametrize("served_first", [True, False])
def test_what_has_become_of_it_is_kept(served_first: bool) -> None:
    """A snapshot of a cluster that runs: node, phase, times, generation, deletion, age."""
    status = PodStatus("Running", qos_class="Guaranteed", start_ms=7000)
    pod = Pod.of("p", node_name="n1", grace_s=5, scheduler_name="beta")
    meta = Meta("p", "default", created_ms=-5000, deleted_ms=9000, grace_s=5)
    budget = PodDisruptionBudget("b").with_meta(generation=7)
    given = attrs.evolve(pod, meta=meta, status=status)
    world = world_of(given, budget, served_first=served_first)
    there = at(world, "pods/default/p")
    assert (there.spec.node_name, there.spec.grace_s, there.spec.scheduler_name) == (
        "n1",
        5,
        "beta",
    )
    assert there.status == status
    assert (there.meta.created_ms, there.meta.deleted_ms, there.meta.grace_s) == (-5000, 9000, 5)
    assert at(world, budget.key).meta.generation == 7


def test_without_an_api_server_objects_are_as_they_were_given() -> None:
    """The Store's own Endpoint admits everything; and a second server finds nothing to do."""
    world = World("test")
    world.add(Pod.of("p"))
    before = world.store.revision
    assert at(world, "pods/default/p").status.phase == ""
    world.serve(lambda store: ApiServer(store))
    assert world.store.revision == before + 1
    world.serve(lambda store: ApiServer(store, "api-2"))
    assert world.store.revision == before + 1
    assert at(world, "pods/default/p").meta.labels == Map()
