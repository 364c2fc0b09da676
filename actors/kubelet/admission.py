"""Admission: whether a node takes a pod on that was bound to it. The last mile (KUB-3 to KUB-8)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import attrs

from testbed.objects import Node, Pod, requests_of, room_of
from testbed.objects.affinity import NO_EXECUTE, tolerated

PODS = "pods"
ORDINARY = ("cpu", "memory", "ephemeral-storage")
"""What every node has; of anything else it may know nothing, and then does not mind."""


@attrs.frozen
class AdmissionRefusal:
    """Why a pod is not taken on."""

    reason: str
    said: str

    @property
    def message(self) -> str:
        """As the status of the pod has it."""
        return f"Pod was rejected: {self.said}"


NO_NODE = AdmissionRefusal("InvalidNodeInfo", "Kubelet cannot get node info.")


def refusal_of(pod: Pod, node: Node | None, active: Iterable[Pod]) -> AdmissionRefusal | None:
    """Why the node does not take the pod on beside those that are active there: the first reason
    there is, of its resources, its place, its ports and its taints. None if it does."""
    if node is None:
        return NO_NODE
    others = list(active)
    lacking = next(_lacking(pod, node, others), None)
    if lacking is not None:
        return lacking
    checks = (
        ("NodeAffinity", pod.spec.may_be_on(node.meta.name, node.meta.labels)),
        ("NodeName", pod.spec.node_name in ("", node.meta.name)),
        ("NodePorts", _has_ports(pod, others)),
        ("TaintToleration", _is_tolerated(pod, node)),
    )
    failed = next((name for name, holds in checks if not holds), None)
    return AdmissionRefusal(failed, f"Predicate {failed} failed") if failed else None


def _lacking(pod: Pod, node: Node, others: list[Pod]) -> Iterator[AdmissionRefusal]:
    """Each resource there is not enough of; pods are counted first."""
    room, asked = room_of(node), requests_of(pod)
    if len(others) + 1 > room.get(PODS, 0):
        yield _out_of(PODS, 1, len(others), room.get(PODS, 0))
    if not any(asked.values()):
        return
    taken = [requests_of(other) for other in others]
    extended = sorted(name for name in asked if name not in ORDINARY and name in room)
    for name in (*ORDINARY, *extended):
        wanted, used = asked.get(name, 0), sum(each.get(name, 0) for each in taken)
        if wanted > room.get(name, 0) - used:
            yield _out_of(name, wanted, used, room.get(name, 0))


def _out_of(name: str, asked: int, used: int, has: int) -> AdmissionRefusal:
    said = (
        f"Node didn't have enough resource: {name}, requested: {asked}, used: {used}, "
        f"capacity: {has}"
    )
    return AdmissionRefusal(f"OutOf{name}", said)


def _has_ports(pod: Pod, others: list[Pod]) -> bool:
    """Whether no other pod has taken one of the node's ports that it asks for."""
    taken = [port for other in others for port in other.spec.host_ports]
    return not any(port.clashes(other) for port in pod.spec.host_ports for other in taken)


def _is_tolerated(pod: Pod, node: Node) -> bool:
    """Whether it puts up with what drives pods away from that node."""
    taints = [taint for taint in node.spec.taints if taint.effect == NO_EXECUTE]
    return all(tolerated(taint, pod.spec.tolerations) for taint in taints)
