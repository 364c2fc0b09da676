"""A kubelet whose node runs short: when it looks, which pod it ends, and what its node says."""

from __future__ import annotations

from typing import Any

import attrs
import pytest

from actors.apiserver import ApiServer
from actors.kubelet import EvictionSettings, Kubelet, Runtime, Threshold, Workload
from actors.kubelet.eviction.look import EvictionState
from testbed.client.client import Client
from testbed.objects import LabelSelector, Map, Node, Pod, PodDisruptionBudget
from testbed.objects.condition import find
from testbed.objects.disruption_budget import PodDisruptionBudgetSpec
from testbed.world.world import World
from tests.each_row import each_row
from tests.shared.nodes import KUBELET, at, bound, calm, pod_of, story
from tests.shared.stage import Doing, Puppet

MI = 2**20
HARD = EvictionSettings((Threshold.of("memory.available", "50Mi"),))
ZERO = {"hard_evict_grace": "documented_zero"}


def pressed(
    *pods: Pod,
    eviction: EvictionSettings = HARD,
    user: Doing | None = None,
    images: int = 0,
    budget: PodDisruptionBudgetSpec | None = None,
    **settings: Any,
) -> World:
    """A World of one node with 2000 Mi of memory and disk, that looks after itself."""  # fmt: skip
    world = World("pressed")
    world.serve(ApiServer)
    node = Node.of("n1", cpu_m=4000, memory=2000 * MI)
    disk = Map({**node.status.capacity, "ephemeral-storage": node.status.capacity["memory"]})
    status = attrs.evolve(node.status, capacity=disk, allocatable=disk)
    world.add(attrs.evolve(node, status=status), *pods)
    world.serve(lambda store: Runtime(store, "n1", images))
    world.start(Kubelet(KUBELET, "n1", eviction=eviction, **{"switches": ZERO, **settings}))
    if user is not None:
        world.start(Puppet("user", user))
    if budget is not None:
        world.add(PodDisruptionBudget("budget", spec=budget))
    calm(world)
    return world


def using(name: str, memory: str, asked_mi: int | None = 500, **spec: Any) -> Pod:
    """A pod on that node, with its usage of memory."""
    pod = Pod.of(name, memory=None if asked_mi is None else asked_mi * MI, node_name="n1", **spec)
    return pod.with_meta(annotations=Map({"usage.testbed/memory": memory}))


def conditions(world: World) -> list[str]:
    """When a pressure of the node changed, and to what."""
    told, last = [], ""
    for change in world.store.log("nodes").after(0):
        _, now_ms = world.wire.streams.commits.get(change.revision, (0, 0))
        found: Any = change.after
        now = " ".join(each.type for each in found.status.conditions if each.is_true)
        if now != last:
            told.append(f"{now_ms} {now}".rstrip())
        last = now
    return told


def evicted(world: World) -> list[str]:
    """Which pods were evicted, and when they had failed."""
    names = sorted(change.key.rpartition("/")[2] for change in world.store.log("pods").after(0))
    ends = {name: story(world, name)[-1] for name in names}
    found = [(int(end.split()[0]), name) for name, end in ends.items() if "Evicted" in end]
    return [f"{at_ms} {name}" for at_ms, name in sorted(found)]


@pytest.mark.spec("KUB-23", "KUB-29", "KUB-36", "KUB-38")
def test_a_pod_is_evicted_at_the_first_look_that_finds_too_little() -> None:
    """Not at once: it looks every ten seconds. Its object stays, and says why; five minutes after
    the node was last short of memory the condition goes."""
    world = pressed(using("a", "0s=1000Mi 12s=1200Mi"), using("b", "900Mi", 901))
    assert evicted(world) == ["20000 a"]
    status = pod_of(world, "a").status
    assert status.message == (
        "The node was low on resource: memory. Threshold quantity: 50Mi, available: 0. Container "
        "main was using 1200Mi, request is 500Mi, has larger consumption of memory. "
    )
    target = find(status.conditions, "DisruptionTarget")
    assert target is not None
    assert target.reason == "TerminationByKubelet"
    assert conditions(world) == ["20000 MemoryPressure", "330000"]


@pytest.mark.spec("KUB-29", "KUB-37")
@each_row(("switches", "first", "second"), [
    ({"hard_evict_grace": "documented_zero"}, "10000 a", "11000 b"),
    ({"hard_evict_grace": "modern_one"}, "11000 a", "13000 b"),
    ({}, "35000 a", "61000 b"),
])  # fmt: skip
def test_the_grace_of_a_hard_eviction(switches: dict[str, str], first: str, second: str) -> None:
    """None; one second; or, in 1.26, the pod's own. There the kubelet waits for it."""
    pods = [Workload(is_deaf=True).given_to(using(name, "700Mi", 100, grace_s=25))
            for name in "abcd"]  # fmt: skip
    assert evicted(pressed(*pods, switches=switches)) == [first, second]


@pytest.mark.spec("KUB-27", "KUB-37")
def test_a_soft_threshold_waits_for_its_grace() -> None:
    """The condition is there at once; the pod has the grace of the settings."""
    soft = Threshold.of("memory.available", "200Mi", grace_ms=30_000)
    settings = EvictionSettings((soft,), max_pod_grace_s=7)
    pod = Workload(is_deaf=True).given_to(using("a", "0s=100Mi 5s=1900Mi", grace_s=60))
    world = pressed(pod, eviction=settings)
    assert conditions(world)[0] == "10000 MemoryPressure"
    assert evicted(world) == ["47000 a"]


@pytest.mark.spec("KUB-9", "KUB-44")
def test_a_node_under_pressure_rejects_a_best_effort_pod() -> None:
    """A burstable one it admits."""

    def come(pod: Pod) -> Any:
        async def do(client: Client) -> None:
            await client.create(pod)

        return do

    user = at((15_000, come(using("b", "0", None))), (16_000, come(using("c", "0", 10))))
    world = pressed(using("a", "0s=100Mi 5s=1990Mi"), user=user)
    assert evicted(world) == ["10000 a", "15000 b"]
    assert pod_of(world, "b").status.message.startswith("Pod was rejected: The node had condition")
    assert pod_of(world, "c").status.phase == "Running"


@pytest.mark.spec("KUB-31")
@each_row(("images", "gone"), [(1500, []), (300, ["10000 a"])])
def test_images_are_collected_before_a_pod_goes_for_the_disk(images: int, gone: list[str]) -> None:
    """If that is enough, none is evicted."""
    settings = EvictionSettings((Threshold.of("nodefs.available", "20%", reclaim="10%"),))
    pods = [
        each.with_meta(annotations=Map({"usage.testbed/disk": "800Mi"}))
        for each in (bound("a", 1), bound("b", 1, priority=1))
    ]
    world = pressed(*pods[: 2 if gone else 1], eviction=settings, images=images * MI)
    assert evicted(world) == gone
    assert conditions(world)[0] == "10000 DiskPressure"


@pytest.mark.spec("KUB-24", "KUB-32")
def test_processes_can_run_out() -> None:
    """The pod of the lowest priority goes, then the one with most."""
    settings = EvictionSettings((Threshold.of("pid.available", "10%"),), pids=1000)
    pods = [
        bound(name, 1).with_meta(annotations=Map({"usage.testbed/pids": text}))
        for name, text in (("a", "300"), ("b", "0s=1 10s=650"))
    ]
    world = pressed(*pods, eviction=settings)
    assert evicted(world) == ["10000 b"]
    assert conditions(world)[0] == "10000 PIDPressure"


@pytest.mark.spec("KUB-25")
def test_pods_may_not_use_what_is_reserved() -> None:
    """There is memory left, but it is not theirs."""
    kept = Map({"memory": Node.of("n", memory=500 * MI).status.capacity["memory"]})
    world = pressed(using("a", "1000Mi"), using("b", "500Mi"), reserved=kept)
    assert evicted(world) == ["10000 a"]
    node: Any = world.store.peek("nodes/n1")
    assert str(node.value.status.allocatable["memory"]) == "1450Mi"


def test_a_quiet_node_costs_nothing() -> None:
    """It looks again only when something can be different: after its first look, and when usage
    changes."""
    world = pressed(using("a", "0s=1Mi 3600s=2Mi"), using("b", "5Mi"))
    assert world.verdict is not None
    assert world.verdict.turns < 60
    assert world.verdict.virtual_ms >= 3_600_000


@pytest.mark.spec("KUB-23")
def test_a_quiet_node_is_the_same_in_each_period() -> None:
    """However long ago its kubelet looked, and its node was short: else a ping-pong beside it would
    never be proved. Where in its period it is makes a difference."""
    for pods in ([using("a", "0s=400M")], [using("a", "0s=400M 20s=1990M")]):
        life = pressed(*pods).table.roles[KUBELET].life
        assert life is not None
        own: Any = life.shown["eviction"]
        assert own.digest(1_000_000) == own.digest(1_000_000 + HARD.every_ms)
        assert own.digest(1_000_000) != own.digest(1_000_001)


def test_what_it_remembers_matters_as_long_as_a_period_lasts() -> None:
    """A grace period, or the transition period; then it stays alike."""
    soft = Threshold.of("memory.available", "50Mi", grace_ms=500)
    for state, ends_ms in (
        (EvictionState(first_ms=((soft, 0),)), 500),
        (EvictionState(observed_ms=Map(MemoryPressure=0)), 1000),
        (EvictionState(measured_ms=Map({soft.signal: 0})), 1),
    ):
        last = state.digest(ends_ms, 1000)
        assert state.digest(ends_ms - 1, 1000) != last
        assert state.digest(ends_ms + 1, 1000) == last


@pytest.mark.spec("KUB-35")
def test_no_budget_keeps_a_pod_from_being_evicted() -> None:
    """Nor a priority, if another pod stays within its request: both only rank."""
    labels = Map(app="db")
    spec = PodDisruptionBudgetSpec(min_available=1, selector=LabelSelector(labels))
    greedy = using("greedy", "1960Mi", 400, priority=1000).with_meta(labels=labels)
    world = pressed(greedy, using("small", "10Mi", 500), budget=spec)
    assert evicted(world) == ["10000 greedy"]
