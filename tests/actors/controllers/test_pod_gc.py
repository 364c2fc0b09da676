"""Pod GC: which pods it removes, and when it must not."""

from __future__ import annotations

from typing import Any

import attrs
import pytest

from actors.apiserver import ApiServer
from actors.controllers.pod_gc import OUT_OF_SERVICE, PodGC
from testbed import Client, World
from testbed.objects import Condition, Node, Pod, PodStatus, Taint
from testbed.turns.trace import Step
from tests.shared.stage import Doing, Puppet, play


def world_with(*objects: Any, do: Doing | None = None, **settings: Any) -> World:
    """A World with the controller, these objects, and a user."""
    world = World("test")
    world.serve(lambda store: ApiServer(store))
    world.add(*objects)
    world.start(PodGC(**settings))
    if do is not None:
        world.start(Puppet("user", do))
    return world


def removed(steps: list[Step]) -> list[tuple[int, str]]:
    """When it asked for which deletion."""
    asked = (step for step in steps if str(step.sentence).startswith("serve pod-gc/main delete "))
    return [(s.now_ms, str(s.sentence).rpartition("/")[2]) for s in asked]


def over(name: str, created_ms: int, reason: str = "", phase: str = "Failed") -> Pod:
    """A pod that has ended."""
    pod = Pod.of(name, node_name="n1").with_meta(created_ms=created_ms)
    return attrs.evolve(pod, status=PodStatus(phase, reason))


@pytest.mark.spec("CTL-40")
def test_pods_of_a_node_that_is_gone_are_removed_after_a_quarantine() -> None:
    """At the first look that is 40 s after the one at which the node was missing. They fail before
    they go, and say why."""

    async def remove(client: Client) -> None:
        await client.sleep(5_000)
        await client.delete(Node.of("n1"), whatever_it_was=True)

    pods = (Pod.of("p", node_name="n1"), Pod.of("q", node_name="n2"), Pod.of("new"))
    world = world_with(Node.of("n1"), Node.of("n2"), *pods, do=remove)
    assert removed(play(world).steps) == [(60_000, "p")]
    last = [c for c in world.store.log().changes if c.key == "pods/default/p"][-1]
    assert last.old is not None
    pod: Any = last.old.value
    assert pod.status.phase == "Failed"
    assert [each.reason for each in pod.status.conditions] == ["DeletionByPodGC"]


@pytest.mark.spec("CTL-40")
def test_a_node_that_is_back_keeps_its_pods() -> None:
    """Whether its Cache has heard of that, or only the server says so."""

    async def replace(client: Client) -> None:
        await client.delete(Node.of("n1"), whatever_it_was=True)
        await client.sleep(70_000)
        await client.create(Node.of("n1"))

    objects = (Node.of("n1"), Pod.of("p", node_name="n1"))
    world = world_with(*objects, do=replace, quarantine_ms=80_000)
    assert removed(play(world).steps) == []
    # It hears of the deletion at 25 s and is to ask at 80 s; of the new node it hears at 95 s.
    world = world_with(*objects, do=replace)
    world.latency("watch nodes", actor="pod-gc", deliver_ms=25_000)
    played = play(world)
    assert removed(played.steps) == []
    assert played.only("serve pod-gc/main get nodes/n1").now_ms == 80_000


@pytest.mark.spec("CTL-40")
def test_a_terminating_pod_without_a_node_is_removed() -> None:
    """No kubelet would."""
    held = Pod.of("p").with_meta(deleted_ms=0, grace_s=0, finalizers=("x",))
    world = world_with(held, Pod.of("q"))
    assert removed(play(world).steps)[:1] == [(0, "p")]


@pytest.mark.spec("CTL-40")
def test_pods_that_have_ended_are_kept_up_to_a_number() -> None:
    """Above it evicted ones go first, then the oldest."""
    pods = (
        over("a", 3000), over("b", 1000), over("c", 2000, phase="Succeeded"),
        over("d", 9000, "Evicted"),
    )  # fmt: skip
    world = world_with(Node.of("n1"), *pods, terminated_max=2)
    assert removed(play(world).steps) == [(0, "d"), (0, "b")]
    assert removed(play(world_with(Node.of("n1"), *pods, terminated_max=0)).steps) == []


@pytest.mark.spec("CTL-40")
def test_pods_of_a_node_that_is_out_of_service_need_not_end() -> None:
    """Those that are terminating, if the node has the taint and is not ready."""
    going = Pod.of("p", node_name="n1").with_meta(deleted_ms=30_000, grace_s=30)
    lost = Node.of("n1", taints=(Taint(OUT_OF_SERVICE, effect="NoExecute"),))
    ready = attrs.evolve(lost.status, conditions=(Condition("Ready", "True"),))
    assert removed(play(world_with(lost, going, Pod.of("q", node_name="n1"))).steps) == [(0, "p")]
    assert removed(play(world_with(attrs.evolve(lost, status=ready), going)).steps) == []
    assert removed(play(world_with(Node.of("n1"), going)).steps) == []
