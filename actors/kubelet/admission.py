"""Admission: whether the kubelet accepts a pod that was bound to its node (KUB-3 to KUB-8).

It is the last check before a pod runs: a bind looks at nothing of the node.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import attrs

from testbed.objects import Node, Pod, requests_of, room_of
from testbed.objects.affinity import NO_EXECUTE, tolerated

PODS = "pods"
ORDINARY = ("cpu", "memory", "ephemeral-storage")
"""Resources that every node has. Any other that the node does not know is ignored (KUB-6)."""


@attrs.frozen
class AdmissionRefusal:
    """Why a pod is rejected."""

    reason: str
    why: str

    @property
    def message(self) -> str:
        """The message in the status of the pod."""
        return f"Pod was rejected: {self.why}"


NO_NODE = AdmissionRefusal("InvalidNodeInfo", "Kubelet cannot get node info.")


def refusal_of(pod: Pod, node: Node | None, active: Iterable[Pod]) -> AdmissionRefusal | None:
    """The first reason to reject a pod, given the pods that are active on the node; None if it is
    admitted. The order is: resources, node affinity, node name, ports, taints (KUB-5)."""
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
    """Each resource that is insufficient; the number of pods is checked first."""
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
    why = (
        f"Node didn't have enough resource: {name}, requested: {asked}, used: {used}, "
        f"capacity: {has}"
    )
    return AdmissionRefusal(f"OutOf{name}", why)


def _has_ports(pod: Pod, others: list[Pod]) -> bool:
    """Whether no other pod uses one of the host ports that the pod asks for."""
    taken = [port for other in others for port in other.spec.host_ports]
    return not any(port.clashes(other) for port in pod.spec.host_ports for other in taken)


def _is_tolerated(pod: Pod, node: Node) -> bool:
    """Whether the pod tolerates the NoExecute taints of the node."""
    taints = [taint for taint in node.spec.taints if taint.effect == NO_EXECUTE]
    return all(tolerated(taint, pod.spec.tolerations) for taint in taints)
