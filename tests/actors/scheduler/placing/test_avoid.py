"""Avoiding: a workload does not go back at once to a node that evicted it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import attrs
import pytest

from actors.framework.podinfo import info_of
from actors.scheduler.placing.avoid import Evictions, avoiding, evictions_of
from actors.scheduler.placing.feasibility import Feasibility
from actors.scheduler.placing.scoring import scores_of
from actors.scheduler.scores import PLACEMENTS
from actors.scheduler.switches import switches_of
from testbed.client.client import Client
from testbed.faults.crash import Crash
from testbed.objects import Node, Owner, Pod, calendar
from testbed.world.world import World
from tests.each_row import each_row
from tests.shared.deciding import a_node, a_pod, snapshot_of
from tests.shared.scheduling import NAME, attempts, cluster, pending, there
from tests.shared.stage import Puppet, play


def evicted(name: str, node: str, **more: Any) -> Pod:
    """A pod of a ReplicaSet that its node has evicted."""
    pod = of_set(a_pod(name, on=node, **more))
    return attrs.evolve(pod, status=attrs.evolve(pod.status, phase="Failed", reason="Evicted"))


def of_set(pod: Pod) -> Pod:
    """The same pod, owned by a ReplicaSet."""
    return pod.with_meta(owners=(Owner("apps/v1", "ReplicaSet", "rs", "uid-rs", controller=True),))


@pytest.mark.spec("SCH-108")
@each_row("how", ["deprioritise", "exclude"])
def test_a_workload_keeps_away_from_where_it_was_evicted(how: str) -> None:
    """SCH-108, D-21: during the window. If there is no other node, it goes back, or waits."""
    now_ms = [0]
    switches = switches_of(given={"avoid_node_after_eviction_ms": "5000", "avoid_how": how})
    evictions = Evictions(5000, lambda: now_ms[0])
    filters, more = avoiding(switches, evictions)
    evictions.note(evicted("v", "n1"))
    evictions.note(a_pod("w", on="n2"))

    def best(pod: Pod, *nodes: Node) -> Sequence[str]:
        snapshot = snapshot_of(*nodes)
        found = Feasibility(info_of(pod), snapshot, filters, {})
        if not found.rows:
            return [str(refusal) for refusal in found.refusals]
        scores = [*PLACEMENTS["least_allocated"], *more]
        return scores_of(info_of(pod), snapshot, found.rows, scores).best

    large, small = a_node("n1", 90), a_node("n2", 2)
    again = of_set(a_pod("v2"))
    assert best(again, large, small) == ("n2",)
    assert best(a_pod("other"), large, small) == ("n1",)
    assert best(again, large) == (("n1",) if how == "deprioritise" else ["n1"])
    now_ms[0] = 5000
    assert best(again, large, small) == ("n1",)


@pytest.mark.spec("SCH-108")
def test_a_workload_is_known_by_its_template_too() -> None:
    """Pods of one template and namespace, whatever owns them."""
    evictions = Evictions(1000, lambda: 0)
    evictions.note(evicted("v", "n1", labels={"pod-template-hash": "h"}))
    assert evictions.nodes(a_pod("w", labels={"pod-template-hash": "h"})) == {"n1"}
    assert evictions.nodes(a_pod("x/w", labels={"pod-template-hash": "h"})) == frozenset()
    assert evictions.nodes(a_pod("w")) == frozenset()
    assert avoiding(switches_of(), None) == ([], [])
    assert evictions_of(switches_of(), lambda: 0) is None


# -- in a World ---------------------------------------------------------------------------------

OF_SET: dict[str, Any] = {"labels": {"pod-template-hash": "h"}}
GONE = {"type": "DisruptionTarget", "status": "True", "reason": "TerminationByKubelet",
        "lastTransitionTime": calendar.written(1000)}  # fmt: skip
OVER = {"phase": "Failed", "reason": "Evicted", "conditions": [GONE]}


def evicting(how: str = "", nodes: int = 2, **more: Any) -> World:
    """At 1 s the kubelet of n1 evicts a pod, at 2 s another one like it is made, and at 30 s
    that one changes. n1 has more room than n2."""

    async def kubelet(client: Client) -> None:
        await client.sleep(1000)
        await client.patch(Pod("a"), {"status": OVER}, subresource="status")

    async def user(client: Client) -> None:
        await client.sleep(2000)
        await client.create(pending("again", **OF_SET))
        await client.sleep(28_000)
        await client.patch(Pod("again"), {"metadata": {"labels": {"some": "news"}}})

    switches = {"avoid_node_after_eviction_ms": "20000", "avoid_how": how} if how else {}
    things = [there("a", 5, **OF_SET), *([there("b", 5, node="n2")] if nodes == 2 else [])]
    world = cluster(*things, nodes=nodes, user=user, switches=switches, **more)
    world.start(Puppet("kubelet", kubelet))
    return world


@pytest.mark.spec("SCH-108", "SCH-3")
@each_row(
    ("how", "nodes", "goes_to"),
    [
        ("", 2, ["2000 again#1 n1"]),
        ("deprioritise", 2, ["2000 again#1 n2"]),
        ("exclude", 2, ["2000 again#1 n2"]),
        ("deprioritise", 1, ["2000 again#1 n1"]),
        ("exclude", 1, ["2000 again#1 0/1", "30000 again#2 n1"]),
    ],
)
def test_a_pod_is_kept_from_the_node_that_evicted_its_like(
    how: str, nodes: int, goes_to: list[str]
) -> None:
    """The node is the last resort, or excluded; after the window it is neither."""
    world = evicting(how, nodes)
    play(world)
    assert [" ".join(each.split()[:3]) for each in attempts(world)] == goes_to


@pytest.mark.spec("SCH-108", "SCH-43")
def test_a_scheduler_that_begins_again_knows_since_when() -> None:
    """From the conditions of failed pods: a restart does not begin the window again."""
    world = evicting("exclude", 1)
    world.allow(Crash(NAME, restart_after_ms=24_000))
    play(world, "resume alpha/main queue alpha/ready", "fault * crash alpha")
    assert [" ".join(each.split()[:3]) for each in attempts(world)][-1] == "26000 again#1 n1"
