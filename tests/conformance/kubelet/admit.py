"""Cases of admission: one pod that is new to a kubelet, and what it decides."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import attrs

from actors.kubelet.admission import admission_of
from actors.kubelet.admission.pressure import MEMORY_PRESSURE
from actors.shared.critical import SOURCE
from testbed.objects import Map, Node, Pod, Quantity, Resources, Taint, Toleration
from testbed.objects.affinity import Affinity
from testbed.objects.pod import Container, Port, qos_of
from testbed.objects.quantity import milli, whole
from tests.conformance.shape import Line, unlike


@attrs.frozen
class Admit:
    """A case that the kubelet's admission answers."""

    name: str = "admit"
    why_not: str = ""
    tally: str = "conformance"
    spread: int = 1

    def fits(self, line: Line) -> bool:
        """Whether the line says who has rejected a pod."""
        expect = line.get("expect")
        return isinstance(expect, dict) and "rejected_by" in expect

    def differences(self, line: Line) -> list[str]:
        """Each field that differs."""
        case = line["case"]
        return unlike({"id": case["id"], **answers(case)}, line["expect"])


def answers(case: Mapping[str, Any]) -> dict[str, Any]:
    """What ours decides of a case, in the words of the recording."""
    pod, others = pod_of(case["pod"]), [pod_of(each) for each in case["pods"]]
    pressures = (MEMORY_PRESSURE,) if case["memory_pressure"] else ()
    made = admission_of(pod, node_of(case["node"]), others, pressures)
    refusal = made.refusal
    return {
        "admit": refusal is None,
        "reason": "" if refusal is None else refusal.reason,
        "message": "" if refusal is None else refusal.why,
        "rejected_by": made.refused_by,
        "preempted": [each.meta.name for each in made.victims],
        "qos": qos_of(pod.spec),
        "all_failures": [each.reason for each in made.failures],
    }


def node_of(tree: Mapping[str, Any]) -> Node:
    """The node of a case."""
    has = tree["capacity"]
    return Node.of(
        tree["name"], cpu_m=has["cpu_milli"], memory=has["memory"], pods=has["pods"],
        labels=tree["labels"], unschedulable=tree["unschedulable"],
        taints=tuple(Taint(**each) for each in tree["taints"]),
    )  # fmt: skip


def pod_of(tree: Mapping[str, Any]) -> Pod:
    """A pod of a case, of one container `c`."""
    ports = tuple(Port(each, each) for each in tree.get("host_ports") or ())
    resources = Resources(_amounts(tree["requests"]), _amounts(tree.get("limits")))
    pod = Pod.of(
        f"{tree['namespace']}/{tree['name']}", labels=tree["labels"],
        containers=(Container("c", resources=resources, ports=ports),), node_name=tree["node"],
        priority=tree["priority"],
        tolerations=tuple(Toleration(**each) for each in tree.get("tolerations") or ()),
        node_selector=Map((tree.get("affinity") or {}).get("node_selector") or {}),
        affinity=Affinity(),
    )  # fmt: skip
    if tree.get("static"):
        pod = pod.with_meta(annotations=Map({SOURCE: "file"}))
    return attrs.evolve(pod, status=attrs.evolve(pod.status, start_ms=tree["start_time"] * 1000))


def _amounts(tree: Mapping[str, int] | None) -> Map[Quantity]:
    """Requests or limits; what is not named is not asked for."""
    found = {"cpu": milli(tree["cpu_milli"])} if tree and "cpu_milli" in tree else {}
    return Map({**found, "memory": whole(tree["memory"])} if tree and "memory" in tree else found)
