"""The DaemonSet controller: one pod on each node that should have one, and on no other."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import attrs
import pytest

from actors.controllers.daemonset import (
    DaemonSetController,
    outdated,
    planned,
    pod_for,
)
from actors.shared.daemon_pods import may_run, node_of
from testbed import Client
from testbed.objects import (
    Condition,
    DaemonSet,
    DaemonSetSpec,
    Meta,
    Node,
    Pod,
    PodStatus,
    RollingUpdate,
    Taint,
    Toleration,
    UpdateStrategy,
)
from testbed.objects.form import to_tree
from testbed.world.world import World
from tests.each_row import each_row
from tests.models.worlds.workloads import Readier, all_of, template, workload_world
from tests.shared.stage import Doing, play

ZONE = {"zone": "a"}


def agent(unavailable: int | str = 1, **spec: Any) -> DaemonSet:
    """A DaemonSet whose template has these fields."""
    strategy = UpdateStrategy("RollingUpdate", RollingUpdate(unavailable, 0))
    made = DaemonSet(
        "agent", spec=DaemonSetSpec(template=template(**spec), update_strategy=strategy)
    )
    return made.with_meta(generation=1)


def at(node: str, name: str = "p", phase: str = "Running", **meta: Any) -> Pod:
    """A pod that is bound to that node."""
    made = pod_for(agent(), node)
    ready = (Condition("Ready", "True", since_ms=0),) if phase == "Running" else ()
    return attrs.evolve(
        made,
        meta=attrs.evolve(made.meta, name=name, **meta),
        spec=attrs.evolve(made.spec, node_name=node),
        status=PodStatus(phase, conditions=ready),
    )


def names(pods: Any) -> list[str]:
    """Their names."""
    return [pod.meta.name for pod in pods]


@pytest.mark.spec("CTL-11")
@each_row(
    ("node", "spec", "said"),
    [
        (Node.of("n1"), {}, (True, True)),
        (Node.of("n1"), {"node_selector": ZONE}, (False, False)),
        (Node.of("n1", labels=ZONE), {"node_selector": ZONE}, (True, True)),
        (Node.of("n1", taints=(Taint("a", effect="NoSchedule"),)), {}, (False, True)),
        (Node.of("n1", taints=(Taint("a", effect="NoExecute"),)), {}, (False, False)),
        (Node.of("n1", taints=(Taint("a", effect="PreferNoSchedule"),)), {}, (True, True)),
        (
            Node.of("n1", taints=(Taint("a", effect="NoExecute"),)),
            {"tolerations": (Toleration("a", "Exists"),)},
            (True, True),
        ),
        (
            Node.of("n1", taints=(Taint("node.kubernetes.io/unschedulable", effect="NoSchedule"),)),
            {},
            (True, True),
        ),
    ],
)
def test_who_should_run_and_who_may_go_on(node: Node, spec: Any, said: tuple[bool, bool]) -> None:
    """By required node affinity and taints; resources do not count."""
    assert may_run(agent(**spec), node) == said


@pytest.mark.spec("CTL-13", "CTL-14")
def test_what_is_to_be_done_on_each_node() -> None:
    """One is created where none is; the oldest of several stays; what has ended goes; who
    terminates is waited for; who waits for a node that is gone goes."""
    nodes = [Node.of(f"n{n}") for n in range(1, 6)]
    tainted = Node.of("n6", taints=(Taint("a", effect="NoExecute"),))
    pods = [
        at("n2", "young", created_ms=5000), at("n2", "old", created_ms=1000),
        at("n3", "failed", "Failed"), at("n4", "done", "Succeeded"),
        at("n5", "going", deleted_ms=1), at("n6", "refused"), at("gone", "bound"),
        pod_for(agent(), "gone").with_meta(name="lost"),
    ]  # fmt: skip
    plan = planned(agent(), [*nodes, tainted], pods)
    assert plan.create_on == ("n1",)
    assert sorted(names(plan.delete)) == ["done", "lost", "refused", "young"]
    assert names(plan.failed) == ["failed"]


def test_an_update_keeps_to_what_may_be_unavailable() -> None:
    """Old pods that are not available go at once; of the others as many as may be missing."""
    nodes = [Node.of(f"n{n}") for n in range(1, 5)]
    pods = [at("n1", "a"), at("n2", "b"), at("n3", "c"), at("n4", "d", "Pending")]
    newer = agent().with_meta(generation=2)
    assert outdated(agent(), nodes, pods, 9) == []
    assert names(outdated(newer, nodes, pods, 9)) == ["d"]
    assert names(outdated(agent(3).with_meta(generation=2), nodes, pods, 9)) == ["d", "a", "b"]
    assert names(outdated(agent("50%").with_meta(generation=2), nodes, pods, 9)) == ["d", "a"]
    available = pods[:3]
    assert names(outdated(agent("0%").with_meta(generation=2), nodes[:3], available, 9)) == ["a"]


# -- at work ---------------------------------------------------------------------------------------


def run(user: Doing, *nodes: Node) -> World:
    """Play what the user does."""
    controller = DaemonSetController("daemons", switches={"events": "off"})
    world = workload_world(user, controller, Readier("nodes"), things=nodes)
    play(world)
    return world


@pytest.mark.spec("CTL-12")
def test_each_node_gets_one_also_those_that_come_later() -> None:
    """And the status counts them."""

    async def user(client: Client) -> None:
        await client.create(agent())
        await client.sleep(1000)
        await client.create(Node.of("n3"))

    world = run(user, Node.of("n1"), Node.of("n2"))
    assert sorted(node_of(pod) for pod in all_of(world, Pod)) == ["n1", "n2", "n3"]
    (item,) = all_of(world, DaemonSet)
    assert (item.status.desired_number_scheduled, item.status.number_available) == (3, 3)


def test_a_new_template_replaces_all() -> None:
    """One node after the other."""

    async def user(client: Client) -> None:
        await client.create(agent())
        await client.sleep(1000)
        tree = {"spec": {"template": to_tree(template("2"))}}
        await client.patch(DaemonSet("agent"), tree)

    world = run(user, Node.of("n1"), Node.of("n2"))
    pods = all_of(world, Pod)
    assert sorted(node_of(pod) for pod in pods) == ["n1", "n2"]
    assert {pod.meta.labels["version"] for pod in pods} == {"2"}


@pytest.mark.spec("CTL-13")
def test_a_failed_pod_is_replaced_at_once_and_then_less_and_less_often() -> None:
    """The first at once; after that 1 s, 2 s, 4 s later."""
    at_ms: list[int] = []

    async def user(client: Client) -> None:
        await client.create(agent())
        for _ in range(4):
            await client.sleep(100)
            (pod,) = (await client.list(Pod)).items
            while (await client.list(Pod)).items[0].meta.uid == pod.meta.uid:
                tree = {"status": {"phase": "Failed"}}
                await client.patch(Pod(Meta(pod.meta.name)), tree, subresource="status")
                await client.sleep(100)
            at_ms.append(client.now())

    run(user, Node.of("n1"))
    gaps = [later - earlier for earlier, later in pairwise(at_ms)]
    assert [round(gap, -3) for gap in gaps] == [1000, 2000, 4000]
