"""The last mile: whether a node takes a pod on, and if not, the one reason that is told."""

from __future__ import annotations

from typing import Any

import attrs
import pytest

from actors.kubelet.admission import AdmissionRefusal, admission_of
from testbed.objects import (
    Affinity,
    Container,
    Map,
    Node,
    NodeStatus,
    Pod,
    Quantity,
    Requirement,
    Resources,
    Taint,
    Toleration,
)
from testbed.objects.affinity import NodeAffinity, NodeSelector, NodeSelectorTerm
from testbed.objects.pod import Port
from tests.each_row import each_row

NODE = Node.of("n1", cpu_m=1000, memory=1000, pods=3, labels={"zone": "a"})


def pod(cpu_m: int | None = None, memory: int | None = None, **spec: Any) -> Pod:
    """A pod for that node."""
    return Pod.of("p", cpu_m=cpu_m, memory=memory, **{"node_name": "n1", **spec})


def asking(port: int, ip: str = "", protocol: str = "") -> Pod:
    """A pod that asks for a port of its node."""
    ports = (Port(80, port, ip, protocol),)
    return pod(containers=(Container("main", ports=ports),))


def reason(new: Pod, *others: Pod, node: Node | None = NODE) -> str:
    """Why it is refused; empty if it is not."""
    refusal = admission_of(new, node, others).refusal
    return "" if refusal is None else refusal.reason


@pytest.mark.spec("KUB-8")
@each_row(("new", "others", "said"), [
    (pod(cpu_m=600), [pod(cpu_m=600)], "cpu, requested: 600, used: 600, capacity: 1000"),
    (pod(memory=600), [pod(memory=600)], "memory, requested: 600, used: 600, capacity: 1000"),
    (pod(), [pod(), pod(), pod()], "pods, requested: 1, used: 3, capacity: 3"),
])  # fmt: skip
def test_what_there_is_not_enough_of_is_named(new: Pod, others: list[Pod], said: str) -> None:
    """The resource, what is asked, what is used and what there is, in the words of Kubernetes."""
    refusal = admission_of(new, NODE, others).refusal
    assert refusal is not None
    assert refusal.reason == f"OutOf{said.partition(',')[0]}"
    assert refusal.message == f"Pod was rejected: Node didn't have enough resource: {said}"


@pytest.mark.spec("KUB-5", "KUB-8")
def test_the_first_of_several_reasons_is_told() -> None:
    """Resources before places, ports and taints; pods before cpu, cpu before memory."""
    node = attrs.evolve(NODE, spec=attrs.evolve(NODE.spec, taints=(Taint("t", "", "NoExecute"),)))
    full = [pod(1000, 1000), pod(), asking(80)]
    new = attrs.evolve(
        asking(80), spec=attrs.evolve(pod(1, 1).spec, node_name="n2", node_selector=Map(zone="b"))
    )
    ports = tuple(attrs.evolve(c, ports=(Port(80, 80),)) for c in new.spec.containers)
    new = attrs.evolve(new, spec=attrs.evolve(new.spec, containers=ports))
    assert reason(new, *full, node=node) == "OutOfpods"
    assert reason(new, *full[:1], node=node) == "OutOfcpu"
    assert reason(new, pod(memory=1000), node=node) == "OutOfmemory"
    assert reason(new, full[2], node=node) == "NodeAffinity"
    new = attrs.evolve(new, spec=attrs.evolve(new.spec, node_selector=Map()))
    assert reason(new, full[2], node=node) == "NodeName"
    new = attrs.evolve(new, spec=attrs.evolve(new.spec, node_name="n1"))
    assert reason(new, full[2], node=node) == "NodePorts"
    assert reason(new, node=node) == "TaintToleration"
    assert reason(new) == ""


@pytest.mark.spec("KUB-8")
def test_a_predicate_is_told_by_its_name() -> None:
    """What is no resource."""
    refusal = admission_of(pod(node_selector=Map(zone="b")), NODE, ()).refusal
    assert refusal == AdmissionRefusal("NodeAffinity", "Predicate NodeAffinity failed")
    assert reason(pod(), node=None) == "InvalidNodeInfo"


@pytest.mark.spec("KUB-6")
def test_a_resource_the_node_does_not_know_is_no_matter() -> None:
    """An extended one; but one that it knows is counted."""
    gpu = Container("main", resources=Resources(requests=Map({"x.io/gpu": Quantity.parse(1)})))
    assert reason(pod(containers=(gpu,))) == ""
    has = Map({**NODE.status.allocatable, "x.io/gpu": Quantity.parse(1)})
    node = attrs.evolve(NODE, status=NodeStatus(allocatable=has))
    assert reason(pod(containers=(gpu,)), node=node) == ""
    assert reason(pod(containers=(gpu,)), pod(containers=(gpu,)), node=node) == "OutOfx.io/gpu"
    less = attrs.evolve(NODE, status=NodeStatus(allocatable=Map({"pods": Quantity.parse(9)})))
    assert reason(pod(cpu_m=1), node=less) == "OutOfcpu"


@pytest.mark.spec("KUB-5")
def test_a_pod_goes_only_where_its_affinity_lets_it() -> None:
    """One term of several is enough."""

    def wanting(*zones: str) -> Pod:
        terms = tuple(NodeSelectorTerm((Requirement("zone", "In", (zone,)),)) for zone in zones)
        return pod(affinity=Affinity(NodeAffinity(required=NodeSelector(terms))))

    assert reason(wanting("b", "a")) == ""
    assert reason(wanting("b")) == "NodeAffinity"
    assert reason(pod(affinity=Affinity())) == ""


@pytest.mark.spec("KUB-5")
@each_row(("one", "other", "clash"), [
    (asking(80), asking(80), True), (asking(80), asking(81), False),
    (asking(80, protocol="UDP"), asking(80), False),
    (asking(80, protocol="TCP"), asking(80), True),
    (asking(80, "10.0.0.1"), asking(80, "10.0.0.2"), False),
    (asking(80, "10.0.0.1"), asking(80, "10.0.0.1"), True),
    (asking(80, "0.0.0.0"), asking(80, "10.0.0.2"), True),
    (asking(80, "10.0.0.1"), asking(80), True),
    (asking(80, "::"), asking(80, "10.0.0.1"), False),
    (asking(0), asking(0), False),
])  # fmt: skip
def test_no_two_pods_have_one_port_of_the_node(one: Pod, other: Pod, clash: bool) -> None:
    """Of one protocol, at one address or at any."""
    assert (reason(one, other) == "NodePorts") is clash
    assert (reason(other, one) == "NodePorts") is clash


@pytest.mark.spec("KUB-5")
@each_row(("effect", "tolerated", "refused"), [
    ("NoExecute", False, True), ("NoExecute", True, False), ("NoSchedule", False, False),
    ("PreferNoSchedule", False, False),
])  # fmt: skip
def test_only_a_taint_that_drives_pods_away_keeps_one_out(
    effect: str, tolerated: bool, refused: bool
) -> None:
    """NoExecute, if it is not tolerated; the other two are for schedulers."""
    node = attrs.evolve(NODE, spec=attrs.evolve(NODE.spec, taints=(Taint("t", "v", effect),)))
    tolerations = (Toleration("t", value="v"),) if tolerated else ()
    assert (reason(pod(tolerations=tolerations), node=node) == "TaintToleration") is refused
