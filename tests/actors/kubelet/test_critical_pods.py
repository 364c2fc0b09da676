"""What a kubelet does to admit a critical pod, and which pods count as one."""

from __future__ import annotations

from typing import Any

import pytest

from actors.kubelet import Workload
from actors.kubelet.admission import Admission, admission_of
from actors.shared.critical import CRITICAL_FROM, SOURCE
from testbed.client.client import Client
from testbed.objects import (
    Container,
    Map,
    Meta,
    Node,
    Pod,
    PriorityClass,
    Resources,
    Taint,
    Toleration,
)
from testbed.objects.condition import find
from testbed.objects.quantity import milli, whole
from tests.each_row import each_row
from tests.shared.nodes import at, bound, calm, node_world, pod_of, story

MEMORY_TAINT = "node.kubernetes.io/memory-pressure"


def of_class(name: str, cpu_m: int, qos: str, priority: int = 0, memory: int = 1) -> Pod:
    """A pod of a QoS class that requests so much."""
    amounts = Map({"cpu": milli(cpu_m), "memory": whole(memory)})
    resources = {
        "Guaranteed": Resources(amounts, amounts),
        "Burstable": Resources(requests=amounts),
        "BestEffort": Resources(),
    }[qos]
    return Pod.of(
        name, containers=(Container("c", resources=resources),), node_name="n1", priority=priority
    )


def critical(cpu_m: int | None = None, **spec: Any) -> Pod:
    """A critical pod on that node."""
    return Pod.of("k", cpu_m=cpu_m, node_name="n1", priority=CRITICAL_FROM, **spec)


def decided(pod: Pod, *others: Pod, cpu_m: int = 4000, pods: int = 9) -> Admission:
    """What a node of this size decides."""
    return admission_of(pod, Node.of("n1", cpu_m=cpu_m, memory=100, pods=pods), others)


def killed(pod: Pod, *others: Pod, **node: int) -> list[str]:
    """The names of those killed for it."""
    return [each.meta.name for each in decided(pod, *others, **node).victims]


G = of_class("g", 1000, "Guaranteed")
U1 = of_class("u1", 1000, "Burstable", 10)
U2 = of_class("u2", 2000, "Burstable", 5)


@pytest.mark.spec("KUB-13", "KUB-14")
@each_row(("cpu_m", "victims"), [(0, []), (1000, ["u1"]), (2000, ["u2"]), (3000, ["u2", "u1"])])
def test_the_fewest_of_the_lowest_class_are_killed(cpu_m: int, victims: list[str]) -> None:
    """GT-E4: guaranteed pods only if all others do not suffice."""
    assert killed(critical(cpu_m), G, U1, U2) == victims


@pytest.mark.spec("KUB-13")
def test_a_guaranteed_pod_goes_only_if_all_others_do_not_suffice() -> None:
    """GT-E4, where four cores are requested: those of lower classes are killed first."""
    assert killed(critical(4000), G, U1, U2) == ["u2", "u1", "g"]
    best = of_class("b", 0, "BestEffort")
    assert killed(critical(4000), best, G, U1, U2) == ["u2", "u1", "g"]
    assert killed(critical(1), best, G, pods=2) == ["b"], "a place is all that is lacking"


@pytest.mark.spec("KUB-11", "KUB-12")
def test_only_a_critical_pod_displaces_and_only_lesser_ones() -> None:
    """An ordinary pod is refused; among critical ones the priority decides."""
    plain = decided(Pod.of("p", cpu_m=4000, node_name="n1", priority=1_000_000), U1)
    assert plain.refusal is not None
    assert (plain.refusal.reason, plain.victims) == ("OutOfcpu", ())
    equal = of_class("e", 1000, "Burstable", CRITICAL_FROM)
    refused = decided(critical(4000), equal)
    assert refused.refusal is not None
    assert refused.refusal.reason == "UnexpectedAdmissionError"
    assert refused.refusal.why.endswith("to reclaim resources: [(res: cpu, q: 1000), ]")
    higher = Pod.of("h", cpu_m=4000, node_name="n1", priority=CRITICAL_FROM + 1000)
    assert killed(higher, equal) == ["e"]


@pytest.mark.spec("KUB-11")
def test_what_is_no_lack_of_resources_is_told_and_costs_no_pod() -> None:
    """Resources are lacking, too: nothing is killed for a pod that cannot come."""
    decision = decided(critical(4000, node_selector=Map(zone="b")), U1)
    assert decision.refusal is not None
    assert (decision.refusal.reason, decision.victims) == ("NodeAffinity", ())
    assert decision.failures[0].reason == "Insufficient cpu"


@pytest.mark.spec("KUB-4", "KUB-9")
@each_row(("pod", "pressures", "why"), [
    (bound("a"), (), ""),
    (bound("a"), ("MemoryPressure",), ""),
    (bound("a", None), ("MemoryPressure",), "[MemoryPressure]"),
    (bound("a", None, priority=CRITICAL_FROM), ("MemoryPressure",), ""),
    (bound("a", None, tolerations=(Toleration(MEMORY_TAINT, "Exists"),)), ("MemoryPressure",), ""),
    (bound("a", None, tolerations=(Toleration("x", "Exists"),)), ("MemoryPressure",),
     "[MemoryPressure]"),
    (bound("a"), ("DiskPressure",), "[DiskPressure]"),
    (bound("a"), ("MemoryPressure", "PIDPressure"), "[MemoryPressure PIDPressure]"),
    (bound("a", priority=CRITICAL_FROM), ("DiskPressure",), ""),
])  # fmt: skip
def test_under_pressure_a_node_accepts_less(pod: Pod, pressures: tuple[str, ...], why: str) -> None:
    """And this is checked before anything else."""
    refusal = admission_of(pod, Node.of("n1", cpu_m=1000), (), pressures).refusal
    assert (refusal is not None and refusal.reason == "Evicted") is bool(why)
    if refusal is not None:
        assert refusal.message == f"Pod was rejected: The node had condition: {why}. "


@pytest.mark.spec("KUB-5")
def test_a_static_pod_is_above_taints() -> None:
    """It was put on this very node."""
    node = Node.of("n1", cpu_m=1, taints=(Taint("t", effect="NoExecute"),))
    pod = bound("a", None)
    assert admission_of(pod, node, ()).refusal is not None
    static = pod.with_meta(annotations=Map({SOURCE: "file"}))
    assert admission_of(static, node, ()).refusal is None


def come(pod: Pod) -> Any:
    """What a user does to create a pod."""

    async def do(client: Client) -> None:
        await client.create(pod)

    return do


@pytest.mark.spec("KUB-15")
def test_victims_are_killed_before_the_critical_pod_starts() -> None:
    """Each with its own grace, one after the other; another pod has to wait for that."""
    victims = [
        Workload(is_deaf=True).given_to(bound("a", 400, grace_s=5)),
        Workload(stops_after_ms=1000).given_to(bound("b", 400, grace_s=30)),
    ]
    late = bound("late", 0)
    new = bound("k", 1000, priority_class_name="critical")
    called = PriorityClass(Meta("critical"), value=CRITICAL_FROM)
    world = node_world(called, *victims, user=at((1000, come(new)), (1500, come(late))))
    calm(world)
    assert story(world, "b")[-1] == "2000 Failed Preempting", "of equal ones the last is first"
    assert story(world, "a")[-1] == "7000 Failed Preempting", "then the other, after its grace"
    assert story(world, "k")[-1] == "7000 Running Ready"
    assert story(world, "late")[-1] == "7000 Running Ready"
    status = pod_of(world, "a").status
    assert status.message == "Preempted in order to admit critical pod"
    condition = find(status.conditions, "DisruptionTarget")
    assert condition is not None
    assert condition.reason == "TerminationByKubelet"


@pytest.mark.spec("KUB-15")
@each_row(("grace_s", "started_ms"), [(2, 11_000), (20, 31_000)])
def test_a_victim_that_does_not_end_in_time_is_not_waited_for(
    grace_s: int, started_ms: int
) -> None:
    """The node does not take back what it held: after 10 s, or one and a half times its grace, the
    critical pod starts all the same."""
    held = Workload(is_deaf=True, torn_down_after_ms=60_000)
    victim = held.given_to(bound("a", 600, grace_s=grace_s))
    new = bound("k", 600, priority_class_name="critical")
    called = PriorityClass(Meta("critical"), value=CRITICAL_FROM)
    world = node_world(called, victim, user=at((1000, come(new))))
    calm(world)
    assert story(world, "k")[-1] == f"{started_ms} Running Ready"
