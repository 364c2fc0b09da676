"""Known results of the alternatives that Kubernetes rejected, for each path."""

from __future__ import annotations

from typing import Any

import pytest

from testbed.objects import Affinity, Container, Map, Pod, Resources
from testbed.objects.quantity import milli, whole
from tests.conformance.test_rules import HOSTNAME, Path, both, node, placing, pod, terms, victims


def guaranteed(name: str, cpu: int, priority: int, **spec: Any) -> Pod:
    """A pod whose limits are its requests."""
    amounts = Map({"cpu": milli(1000 * cpu), "memory": whole(1)})
    asked = Container("c", resources=Resources(amounts, amounts))
    return pod(name, 0, priority, containers=(asked,), **spec)


@both
@pytest.mark.spec("CTL-56", "SCH-79")
def test_by_class_first_an_important_pod_is_preempted_for_a_lesser_one(path: Path) -> None:
    """The seed's web server: Burstable and important, it is preempted for a Guaranteed pod of
    priority 1. By priority, nothing would be."""
    web = pod("web", 6, 1000, "n1")
    batch = guaranteed("batch", 6, 1)
    assert victims(path(placing(batch, web))) == ("", [])
    assert victims(path(placing(batch, web, victim_primary="qos"))) == ("n1", ["web"])


@both
@pytest.mark.spec("CTL-56", "SCH-82")
def test_by_class_first_priority_decides_within_a_class(path: Path) -> None:
    """Of Burstable pods the less important one goes; a Guaranteed one is out of reach."""
    there = [pod("high", 4, 500, "n1"), pod("low", 4, 2, "n1"), guaranteed("g", 2, 0, node="n1")]
    fresh = pod("fresh", 4, 100)
    by_class = placing(fresh, *there, victim_primary="qos")
    assert victims(path(by_class)) == ("n1", ["low"])
    one_more = placing(pod("fresh", 8, 100), *there, victim_primary="qos")
    assert victims(path(one_more)) == ("", [])


@both
@pytest.mark.spec("CTL-50")
@pytest.mark.parametrize("preemptor", ["none", "rescheduler"])
def test_a_scheduler_that_is_not_the_preemptor_only_waits(path: Path, preemptor: str) -> None:
    """It makes no room, keeps its nomination, and says nothing of preemption."""
    decision = path(placing(pod("new", 5, 10), pod("low", 8, 0, "n1"), preemptor=preemptor))
    assert (decision.node, decision.preemption, decision.nominate) == ("", None, None)
    assert decision.message == "0/1 nodes are available: 1 Insufficient cpu."


@both
@pytest.mark.spec("CTL-54")
def test_where_kubelets_preempt_lesser_pods_are_not_seen(path: Path) -> None:
    """After normal placement has failed: the pod gets a node as if they were not there, but pods
    of its own priority are. A pod that must never preempt waits."""
    new, low, peer = pod("new", 5, 10), pod("low", 8, 0, "n1"), pod("peer", 8, 10, "n2")
    nodes = (node("n1"), node("n2"))
    decision = path(placing(new, low, peer, nodes=nodes, preemptor="kubelet"))
    assert (decision.node, decision.displaces) == ("n1", True)
    free = placing(new, low, peer, nodes=(*nodes, node("n3")), preemptor="kubelet")
    assert (path(free).node, path(free).displaces) == ("n3", False)
    never = pod("new", 5, 10, preemption_policy="Never")
    assert not path(placing(never, low, peer, nodes=nodes, preemptor="kubelet")).node
    assert not path(placing(new, peer, nodes=nodes[1:], preemptor="kubelet")).node
    off = placing(new, low, nodes=nodes[:1], preemptor="kubelet", disable_preemption="on")
    assert not path(off).node


@both
@pytest.mark.spec("CTL-54")
def test_where_kubelets_preempt_affinity_is_asked_of_the_others_only(path: Path) -> None:
    """Anti-affinity to a lesser pod keeps no pod away, and the kubelet will not end that pod;
    affinity to one is no reason to come."""
    shy = Affinity(pod_anti_affinity=terms(HOSTNAME, "q"))
    q = pod("q", 1, 0, "n1", labels=Map(app="q"))
    decision = path(placing(pod("new", 5, 10, affinity=shy), q, preemptor="kubelet"))
    assert (decision.node, decision.displaces) == ("n1", True)
    fond = Affinity(pod_affinity=terms(HOSTNAME, "q"))
    full = pod("full", 9, 0, "n1")
    decision = path(placing(pod("new", 5, 10, affinity=fond), q, full, preemptor="kubelet"))
    assert not decision.node
