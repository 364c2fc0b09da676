"""The golden timelines of the kubelet, event by event (docs/spec.md, 4.6)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from actors.apiserver import ApiServer
from actors.controllers.node_lifecycle.lifecycle import NodeLifecycle
from actors.controllers.replicaset import ReplicaSetController
from actors.kubelet import EvictionSettings, Kubelet, Runtime, Threshold, Workload
from actors.scheduler import Scheduler
from actors.shared.critical import CRITICAL_FROM
from testbed.choosers.calm import Calm
from testbed.client.client import Client
from testbed.objects import (
    Container,
    LabelSelector,
    Map,
    Meta,
    Node,
    Pod,
    PodTemplate,
    PriorityClass,
    ReplicaSet,
    ReplicaSetSpec,
    Resources,
)
from testbed.objects.quantity import milli
from testbed.turns.trace import Trace
from testbed.world.world import World
from tests.each_row import each_row
from tests.shared.nodes import KUBELET, at, pod_of, story
from tests.shared.stage import Puppet

MB, NODE = 10**6, "n1"
BEGIN_S = 100
"""When H is created; all times of the timelines count from there."""
SETTINGS = EvictionSettings((Threshold.of("memory.available", "50M"),))


def replicated(name: str, memory: str, asked_mb: int | None, grace_s: int = 30) -> ReplicaSet:
    """A ReplicaSet of one pod, which uses memory as told."""
    asked = None if asked_mb is None else asked_mb * MB
    pod = Pod.of("", memory=asked, grace_s=grace_s, priority_class_name=f"of-{name}")
    meta = Meta(labels=Map(app=name), annotations=Map({"usage.testbed/memory": memory}))
    spec = ReplicaSetSpec(1, 0, LabelSelector(Map(app=name)), PodTemplate(meta, pod.spec))
    return ReplicaSet(Meta(name), spec=spec)


def two_gigabytes(rank: str, be_priority: int, until_s: int, **switches: str) -> World:
    """The node of 2000 MB with Bu, BE, and H, which is created later."""
    world = World("two gigabytes")
    world.serve(ApiServer)
    world.serve(lambda store: Runtime(store, NODE))
    world.add(Node.of(NODE, cpu_m=4000, memory=2000 * MB))
    for name, priority in (("bu", 100), ("be", be_priority), ("h", 200)):
        world.add(PriorityClass(Meta(f"of-{name}"), value=priority))
    world.add(replicated("bu", "900M", 500), replicated("be", "1000M", None))
    heartbeat = "on_change"
    given = Map(evict_rank=rank, hard_evict_grace="documented_zero", heartbeat=heartbeat)
    whole = replicated("h", "0s=600M 10s=900M 20s=1001M", 2000)

    async def come(client: Client) -> None:
        await client.create(whole)

    world.start(
        Kubelet(KUBELET, NODE, eviction=SETTINGS, switches=given),
        ReplicaSetController("replicasets", switches=Map(events="off")),
        NodeLifecycle("node-lifecycle", switches=Map(events="off")),
        Scheduler("default-scheduler", switches=Map(switches)),
        Puppet("user", at((BEGIN_S * 1000, come))),
    )
    world.limit(virtual_ms_max=(BEGIN_S + until_s) * 1000)
    world.run(Calm(), driver="direct", trace=Trace({}, keep=True))
    assert world.verdict is not None
    assert not world.verdict.violations, str(world.verdict)
    return world


def events(world: World, begin_s: int = BEGIN_S) -> list[str]:
    """What is to be seen of the pods, by their workload, and of the node, from then on."""
    found: list[tuple[int, int, str]] = []
    names: dict[str, list[str]] = {}
    for number, change in enumerate(world.store.log("pods").after(0)):
        pod: Any = (change.new or change.old).value  # type: ignore[union-attr]
        app = pod.meta.labels.get("app", pod.meta.name)
        known = names.setdefault(app, [])
        if pod.meta.name not in known:
            known.append(pod.meta.name)
        called = f"{app}{known.index(pod.meta.name) or ''}"
        found += [(number, at_ms, f"{said} {called}") for at_ms, said in _seen(world, change)]
    last = ""
    for number, change in enumerate(world.store.log("nodes").after(0)):
        node: Any = change.after
        taints = " ".join(each.key.rpartition("/")[2] for each in node.spec.taints)
        if taints != last:
            found.append((number, _at_ms(world, change), f"taint {taints or 'none'}"))
        last = taints
    ordered = sorted(found, key=lambda each: each[1])
    return [f"{at_ms // 1000 - begin_s} {said}" for _, at_ms, said in ordered
            if at_ms >= begin_s * 1000]  # fmt: skip


def _at_ms(world: World, change: Any) -> int:
    return world.wire.streams.commits.get(change.revision, (0, 0))[1]


def _seen(world: World, change: Any) -> Iterator[tuple[int, str]]:
    """What one Change of a pod shows: that it is created, bound, over, deleted, gone."""
    old, new = (None if each is None else each.value for each in (change.old, change.new))
    at_ms = _at_ms(world, change)
    if old is None:
        yield at_ms, "create"
    elif new is None:
        yield at_ms, "gone"
    elif old.spec.node_name != new.spec.node_name:
        yield at_ms, "bind"
    elif old.status.phase != new.status.phase:
        yield at_ms, f"{new.status.phase} {new.status.reason}".rstrip()
    elif old.meta.is_terminating != new.meta.is_terminating:
        yield at_ms, "delete"


# -- the timelines --------------------------------------------------------------------------------

PREEMPTED = [
    "0 create h", "0 Pending bu", "0 delete bu", "0 Running bu", "0 create bu1",
    "30 gone bu", "30 bind h", "30 Running h",
]  # fmt: skip
BE_GOES = [*PREEMPTED, "50 Failed Evicted be", "50 create be1", "50 taint memory-pressure"]
"""The 1.26 scheduler marks its victim with the status of the preemptor; its kubelet mends that."""


@pytest.mark.spec("KUB-36", "KUB-38", "KUB-39")
@each_row("rank", ["shipped", "seed_pct"])
def test_the_example_of_the_proposal(rank: str) -> None:
    """H makes room by preemption; then, as it grows, BE is evicted, by either ranking. Bu' does not
    fit, and BE' may not come while the node is short."""
    world = two_gigabytes(rank, be_priority=100, until_s=300)
    assert events(world) == BE_GOES
    pods: list[Any] = [entry.value for entry in world.store.snapshot("pods/")]
    left = {pod.meta.labels["app"]: (pod.status.phase, pod.spec.node_name) for pod in pods
            if not pod.is_over}  # fmt: skip
    assert left == {"h": ("Running", NODE), "bu": ("Pending", ""), "be": ("Pending", "")}


@pytest.mark.spec("KUB-39")
def test_what_was_evicted_comes_back_when_the_pressure_is_over() -> None:
    """Five minutes later the condition goes, BE' is placed, and one second after the next look of
    the kubelet the node is short again: a ping-pong, though a slow one."""
    world = two_gigabytes("shipped", be_priority=100, until_s=355)
    came = ["351 taint none", "351 bind be1", "351 Running be1"]
    assert sorted(events(world)[len(BE_GOES) :]) == sorted(came)


@pytest.mark.spec("KUB-32")
def test_the_inverse_example_goes_on_for_ever_under_the_ranking_of_the_proposal() -> None:
    """BE has the higher priority, so H is evicted. It requests all that the node has, which is
    free, and so comes back at once."""
    found = events(two_gigabytes("seed_pct", be_priority=2000, until_s=100))
    laps = [
        f"{at_s} {said}"
        for number, at_s in enumerate((50, 71, 92))
        for said in (f"Failed Evicted h{number or ''}", f"create h{number + 1}",
                     f"bind h{number + 1}", f"Running h{number + 1}")
    ]  # fmt: skip
    assert [each for each in found if "taint" not in each] == [*PREEMPTED, *laps]


@pytest.mark.spec("KUB-32")
def test_the_inverse_example_ends_under_the_ranking_of_kubernetes() -> None:
    """BE uses more than it requests: it goes, whatever its priority."""
    assert events(two_gigabytes("shipped", be_priority=2000, until_s=300)) == BE_GOES


@pytest.mark.spec("SCH-108")
def test_the_inverse_example_ends_if_the_scheduler_avoids_the_node() -> None:
    """H' stays pending, and Bu' takes the place."""
    world = two_gigabytes(
        "seed_pct", be_priority=2000, until_s=300,
        avoid_node_after_eviction_ms="600000", avoid_how="exclude",
    )  # fmt: skip
    assert events(world)[len(PREEMPTED) :] == [
        "50 Failed Evicted h", "50 create h1", "50 bind bu1", "50 Running bu1",
        "50 taint memory-pressure",
    ]  # fmt: skip


def of_class(name: str, cpu_m: int, priority: int, *, guaranteed: bool = False) -> Pod:
    """A pod on the node that ends two seconds after it is told to."""
    asked = Map({"cpu": milli(cpu_m), "memory": milli(1000)})
    resources = Resources(asked, asked if guaranteed else Map())
    pod = Pod.of(
        name, containers=(Container("c", resources=resources),), node_name=NODE,
        priority=priority, grace_s=5,
    )  # fmt: skip
    return Workload(stops_after_ms=2000).given_to(pod)


@pytest.mark.spec("KUB-11", "KUB-13", "KUB-14", "KUB-15")
@each_row(("cpu_m", "seen"), [
    (2000, ["1 create k", "1 bound", "3 Failed Preempting u2", "3 Running k"]),
    (4000, ["1 create k", "1 bound", "3 Failed Preempting u2", "5 Failed Preempting u1",
            "7 Failed Preempting g", "7 Running k"]),
])  # fmt: skip
def test_a_critical_pod_is_admitted(cpu_m: int, seen: list[str]) -> None:
    """It is bound directly; its victims go one after the other, and then it starts."""
    world = World("critical")
    world.serve(ApiServer)
    world.serve(lambda store: Runtime(store, NODE))
    world.add(Node.of(NODE, cpu_m=4000, memory=2000 * MB))
    world.add(PriorityClass(Meta("critical"), value=CRITICAL_FROM))
    world.add(
        of_class("g", 1000, 0, guaranteed=True), of_class("u1", 1000, 10), of_class("u2", 2000, 5)
    )
    new = Pod.of("k", cpu_m=cpu_m, node_name=NODE, priority_class_name="critical")

    async def come(client: Client) -> None:
        await client.create(new)

    world.start(Kubelet(KUBELET, NODE), Puppet("user", at((1000, come))))
    verdict = world.run(Calm(), driver="direct", trace=Trace({}, keep=True))
    assert verdict.is_held, str(verdict)
    told = events(world, begin_s=0)
    assert [each for each in told if int(each.split()[0])] == [x for x in seen if x != "1 bound"]
    assert story(world, "k")[-1].endswith("Running Ready")
    assert pod_of(world, "u2").status.message == "Preempted in order to admit critical pod"
