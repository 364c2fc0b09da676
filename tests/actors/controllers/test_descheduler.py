"""The descheduler: which pods each strategy names, which it never does, and what a pass does."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import attrs
import pytest

from actors.apiserver import ApiServer
from actors.controllers.descheduler.descheduler import STRATEGIES, Descheduler
from actors.controllers.descheduler.policy import (
    DUPLICATES,
    LOW_UTILIZATION,
    RESTARTS,
    VIOLATIONS,
    DeschedulerPolicy,
)
from actors.controllers.descheduler.sight import Sight
from actors.shared.critical import MIRROR, SOURCE
from testbed import Client, World
from testbed.objects import (
    Affinity,
    Condition,
    ContainerStatus,
    LabelSelector,
    Map,
    Node,
    NodeAffinity,
    NodeSelector,
    NodeSelectorTerm,
    Owner,
    Pod,
    PodAffinity,
    PodAffinityTerm,
    PodDisruptionBudget,
    PodDisruptionBudgetStatus,
    PodStatus,
    Requirement,
    Taint,
    Toleration,
)
from testbed.objects.disruption_budget import PodDisruptionBudgetSpec
from tests.shared.stage import Doing, Puppet, play

KEEP_AWAY = Taint("keep", effect="NoSchedule")
HOST = "kubernetes.io/hostname"


def node(name: str, cpu_m: int = 1000, **spec: Any) -> Node:
    """A node with its name for a host name."""
    return Node.of(name, cpu_m=cpu_m, memory=10**9, pods=100, labels={HOST: name}, **spec)


def on(node: str, name: str, cpu_m: int = 100, owner: str = "web", **spec: Any) -> Pod:
    """A running pod of that owner on a node."""
    owners = (Owner("apps/v1", "ReplicaSet", owner, owner, True),) if owner else ()
    pod = Pod.of(name, cpu_m=cpu_m, node_name=node, labels={"app": owner}, **spec)
    return attrs.evolve(pod.with_meta(owners=owners, uid=name), status=PodStatus("Running"))


def named(
    strategy: str,
    nodes: list[Node],
    pods: list[Pod],
    *,
    refused: tuple[str, ...] = (),
    **policy: Any,
) -> list[str]:
    """The pods that a strategy names, if all evictions but these succeed."""
    run = STRATEGIES[strategy](Sight(nodes, pods, DeschedulerPolicy(**policy)))
    found: list[str] = []
    answer: Any = None
    while True:
        try:
            pod = run.send(answer)
        except StopIteration:
            return found
        found.append(pod.meta.name)
        answer = pod.meta.name not in refused


# -- who may go -----------------------------------------------------------------------------------


@pytest.mark.spec("CTL-57")
def test_some_pods_are_never_evicted() -> None:
    """Those that nothing creates again, of DaemonSets, static ones, terminating and critical ones;
    and those of the threshold priority or more."""
    sight = Sight([node("n1")], [], DeschedulerPolicy(threshold_priority=1000))
    fine = on("n1", "p", priority=999)
    daemon = (Owner("apps/v1", "DaemonSet", "d", "d", True),)
    assert sight.is_evictable(fine)
    assert sight.is_evictable(fine.with_meta(annotations={SOURCE: "api"}))
    assert not any(
        sight.is_evictable(pod)
        for pod in (
            on("n1", "p", owner=""), fine.with_meta(owners=daemon), fine.with_meta(deleted_ms=1),
            fine.with_meta(annotations={MIRROR: "x"}), fine.with_meta(annotations={SOURCE: "file"}),
            on("n1", "p", priority=1000),
        )
    )  # fmt: skip
    any_priority = Sight([node("n1")], [], DeschedulerPolicy(threshold_priority=3_000_000_000))
    assert any_priority.is_evictable(on("n1", "p", priority=1_999_999_999))
    assert not any_priority.is_evictable(on("n1", "p", priority=2_000_000_000))


@pytest.mark.spec("CTL-57")
def test_with_node_fit_another_node_must_take_the_pod() -> None:
    """By selector, taints, cordon, requests, and its own anti-affinity on that node."""
    shy = Affinity(
        pod_anti_affinity=PodAffinity((PodAffinityTerm(HOST, LabelSelector(Map(app="x"))),))
    )

    def fits(other: Node, *there: Pod, **spec: Any) -> bool:
        mine = on("n1", "p", cpu_m=600, **spec)
        sight = Sight([node("n1"), other], [mine, *there], DeschedulerPolicy(node_fit=True))
        return sight.may_evict(mine)

    assert fits(node("n2"))
    assert fits(node("n2"), on("n2", "q", cpu_m=400))
    assert not fits(node("n2"), on("n2", "q", cpu_m=401))
    assert not fits(node("n2", unschedulable=True))
    assert not fits(node("n2", taints=(KEEP_AWAY,)))
    assert fits(node("n2", taints=(KEEP_AWAY,)), tolerations=(Toleration("keep", "Exists"),))
    assert not fits(node("n2"), node_selector=Map({HOST: "n1"}))
    assert not fits(node("n2"), on("n2", "q", owner="x"), affinity=shy)
    assert fits(node("n2"), on("n2", "q", owner="y"), affinity=shy)


# -- the strategies -------------------------------------------------------------------------------


@pytest.mark.spec("CTL-57")
def test_duplicates_are_spread_evenly() -> None:
    """Each node may keep its share, rounded up, of the nodes where the pods may be."""
    pods = [on("n1", f"p{n}") for n in range(5)] + [on("n2", "q"), on("n1", "other", owner="x")]
    nodes = [node("n1"), node("n2"), node("n3")]
    assert named(DUPLICATES, nodes, pods) == ["p2", "p3", "p4"]
    assert named(DUPLICATES, nodes[:2], pods) == ["p3", "p4"]
    assert named(DUPLICATES, nodes[:1], pods) == []
    assert named(DUPLICATES, [nodes[0], node("n2", taints=(KEEP_AWAY,))], pods) == []


@pytest.mark.spec("CTL-57")
def test_a_full_node_counts_as_a_place_for_duplicates() -> None:
    """Unless node_fit is on: descheduler#1237."""
    pods = [on("n1", "p"), on("n1", "q"), on("n2", "full", cpu_m=1000, owner="x")]
    nodes = [node("n1"), node("n2")]
    assert named(DUPLICATES, nodes, pods) == ["q"]
    assert named(DUPLICATES, nodes, pods, node_fit=True) == []


LOW: Mapping[str, Any] = {"low_pct": Map(cpu=20), "target_pct": Map(cpu=50)}


@pytest.mark.spec("CTL-57")
def test_full_nodes_are_relieved_if_others_are_nearly_empty() -> None:
    """The least important pods first, until the node is no longer overutilised."""
    pods = [on("n1", f"p{n}", cpu_m=200, priority=9 - n) for n in range(4)]
    nodes = [node("n1"), node("n2")]
    assert named(LOW_UTILIZATION, nodes, pods, **LOW) == ["p3", "p2"]
    assert named(LOW_UTILIZATION, nodes, pods, **LOW, refused=("p3",)) == ["p3", "p2", "p1"]
    assert named(LOW_UTILIZATION, nodes, [*pods, on("n2", "q", cpu_m=200)], **LOW) == ["p3", "p2"]
    assert named(LOW_UTILIZATION, nodes, [*pods, on("n2", "q", cpu_m=201)], **LOW) == []
    assert named(LOW_UTILIZATION, nodes, pods[:2], **LOW) == []
    cordoned = [node("n1"), node("n2", unschedulable=True)]
    assert named(LOW_UTILIZATION, cordoned, pods, **LOW) == []


@pytest.mark.spec("CTL-57")
def test_no_more_is_moved_than_the_empty_nodes_can_take() -> None:
    """By what they may have up to the target, all together."""
    pods = [on("n1", f"p{n}", cpu_m=300) for n in range(3)]
    small = [node("n1"), node("n2", cpu_m=400)]
    assert named(LOW_UTILIZATION, small, pods, **LOW) == ["p0"]
    assert named(LOW_UTILIZATION, [node("n1"), node("n2")], pods, **LOW) == ["p0", "p1"]


@pytest.mark.spec("CTL-57")
def test_pods_with_many_restarts_go_first_the_worst() -> None:
    """From the threshold on, all containers together."""

    def restarted(name: str, *times: int) -> Pod:
        statuses = tuple(ContainerStatus(f"c{n}", restart_count=t) for n, t in enumerate(times))
        return attrs.evolve(
            on("n1", name), status=PodStatus("Running", container_statuses=statuses)
        )

    pods = [restarted("p", 9), restarted("q", 5, 5), restarted("r", 30), on("n1", "s")]
    assert named(RESTARTS, [node("n1")], pods, restarts_min=10) == ["r", "q"]


@pytest.mark.spec("CTL-57")
def test_pods_that_their_node_would_not_take_go() -> None:
    """By node affinity, if any node would take them, and by taints."""

    def wants(value: str) -> Affinity:
        term = NodeSelectorTerm((Requirement(HOST, "In", (value,)),))
        return Affinity(node_affinity=NodeAffinity(NodeSelector((term,))))

    nodes = [node("n1"), node("n2")]
    assert named(VIOLATIONS, nodes, [on("n1", "p", affinity=wants("n2"))]) == ["p"]
    assert named(VIOLATIONS, nodes, [on("n1", "p", affinity=wants("n3"))]) == []
    assert named(VIOLATIONS, nodes, [on("n1", "p", affinity=wants("n1"))]) == []
    full = [on("n1", "p", affinity=wants("n2")), on("n2", "q", cpu_m=950)]
    assert named(VIOLATIONS, nodes, full) == []
    tainted = [node("n1", taints=(KEEP_AWAY,))]
    tolerates = on("n1", "q", tolerations=(Toleration("keep", "Exists"),))
    assert named(VIOLATIONS, tainted, [on("n1", "p"), tolerates]) == ["p"]
    drained = [node("n1", taints=(Taint("drain", effect="NoExecute"),))]
    assert named(VIOLATIONS, drained, [on("n1", "p")]) == []


@pytest.mark.spec("CTL-57")
def test_of_pods_that_are_too_near_one_stays() -> None:
    """If its eviction succeeds, the other has nothing near it any more; zones count, too."""
    term = PodAffinityTerm(HOST, LabelSelector(Map(app="web")))
    shy = Affinity(pod_anti_affinity=PodAffinity((term,)))
    pods = [on("n1", "p", priority=5, affinity=shy), on("n1", "q", affinity=shy)]
    assert named(VIOLATIONS, [node("n1")], pods) == ["q"]
    assert named(VIOLATIONS, [node("n1")], pods, refused=("q",)) == ["q", "p"]
    apart = [pods[0], on("n2", "q", affinity=shy)]
    assert named(VIOLATIONS, [node("n1"), node("n2")], apart) == []
    zoned = [
        attrs.evolve(each, meta=attrs.evolve(each.meta, labels=Map({HOST: "same"})))
        for each in (node("n1"), node("n2"))
    ]
    assert named(VIOLATIONS, zoned, apart) == ["p"]


# -- passes ---------------------------------------------------------------------------------------


def world_with(*objects: Any, do: Doing | None = None, **policy: Any) -> World:
    """A World with the descheduler, which passes once a minute, and these objects."""
    world = World("test")
    world.serve(lambda store: ApiServer(store))
    world.add(*objects)
    world.start(Descheduler(policy=DeschedulerPolicy(**policy), interval_ms=60_000))
    if do is not None:
        world.start(Puppet("user", do))
    return world


def evicted(world: World) -> list[tuple[int, str]]:
    """When which pod was evicted."""
    found = [record for record in world.table.records if record.name == "evicted"]
    return [(record.now_ms, record.facts["pod"].rpartition("/")[2]) for record in found]


@pytest.mark.spec("CTL-57")
def test_a_pass_keeps_to_budgets_and_limits() -> None:
    """A budget that says no is asked again in the next pass; limits count what was evicted."""
    pods = [on("n1", f"p{n}") for n in range(4)]
    spec = PodDisruptionBudgetSpec(min_available=1, selector=LabelSelector(Map(app="web")))
    status = PodDisruptionBudgetStatus(1, 4, 3, 4)
    nodes = (node("n1"), node("n2"))
    budget = PodDisruptionBudget("b", spec=spec, status=status)
    is_ready = PodStatus("Running", conditions=(Condition("Ready", "True"),))
    ready = [attrs.evolve(pod, status=is_ready) for pod in pods]
    world = world_with(*nodes, *ready, budget, strategies=(DUPLICATES,))
    world.limit(until_ms=59_000)
    play(world)
    assert evicted(world) == [(0, "p2")]
    (refused,) = (each for each in world.table.records if each.name == "not evicted")
    assert refused.facts["error"] == "TooManyRequests"
    world = world_with(*nodes, *ready, strategies=(DUPLICATES,), max_per_node=1)
    play(world, is_held=True)
    assert evicted(world) == [(0, "p2"), (60_000, "p3"), (120_000, "p1")]


@pytest.mark.spec("CTL-57")
def test_a_pass_comes_once_in_an_interval_if_there_is_news() -> None:
    """Pods that come between two passes are seen by the next; nodes that are not ready are not."""

    async def create(client: Client) -> None:
        await client.sleep(70_000)
        for name in ("p", "q"):
            await client.create(on("n1", name).with_meta(uid=""))

    world = world_with(node("n1"), node("n2"), do=create, strategies=(DUPLICATES,))
    play(world)
    assert evicted(world) == [(120_000, "q")]
