"""Predicates: what a node must have for a pod, by the same checks as a scheduler's (KUB-5)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import attrs

from actors.kubelet.admission.refusal import AdmissionRefusal
from actors.shared.critical import is_static
from testbed.objects import Node, Pod, requests_of, room_of
from testbed.objects.affinity import NO_EXECUTE, tolerated

PODS = "pods"
ORDINARY = ("cpu", "memory", "ephemeral-storage")
"""Resources that every node has. Any other that the node does not know is ignored (KUB-6)."""


@attrs.frozen
class Lack:
    """One thing that the node lacks for a pod."""

    reason: str
    """The reason that a scheduler would give: `Insufficient cpu`."""
    refusal: AdmissionRefusal
    """How the pod is rejected, if this is the first."""
    resource: str = ""
    """The resource of which there is not enough; empty: it is no resource."""
    shortfall: int = 0
    """How much of it would have to become free."""


def failures_of(pod: Pod, node: Node, others: Sequence[Pod]) -> Iterator[Lack]:
    """All that is against the pod, given the pods that are active on the node. The order is:
    resources, node affinity, node name, ports, taints; a static pod is above taints."""
    yield from lacking(pod, node, others)
    if not pod.spec.may_be_on(node.meta.name, node.meta.labels):
        yield _predicate("NodeAffinity", "node(s) didn't match Pod's node affinity/selector")
    if pod.spec.node_name not in ("", node.meta.name):
        yield _predicate("NodeName", "node(s) didn't match the requested node name")
    if not _has_ports(pod, others):
        reason = "node(s) didn't have free ports for the requested pod ports"
        yield _predicate("NodePorts", reason)
    if not is_static(pod) and not _is_tolerated(pod, node):
        yield _predicate("TaintToleration", "node(s) had taints that the pod didn't tolerate")


def lacking(pod: Pod, node: Node, others: Sequence[Pod]) -> Iterator[Lack]:
    """Each resource that is insufficient; the number of pods is checked first."""
    room, asked = room_of(node), requests_of(pod)
    if len(others) + 1 > room.get(PODS, 0):
        yield _out_of(PODS, 1, len(others), room.get(PODS, 0))
    if not any(asked.values()):
        return
    taken = [requests_of(other) for other in others]
    extended = sorted(name for name in asked if name not in ORDINARY and name in room)
    for name in (*ORDINARY, *extended):
        wanted, used = asked.get(name, 0), 0
        for each in taken:
            used += each.get(name, 0)
        if wanted > room.get(name, 0) - used:
            yield _out_of(name, wanted, used, room.get(name, 0))


def _out_of(name: str, asked: int, used: int, has: int) -> Lack:
    why = (
        f"Node didn't have enough resource: {name}, requested: {asked}, used: {used}, "
        f"capacity: {has}"
    )
    refusal = AdmissionRefusal(f"OutOf{name}", why)
    return Lack(f"Insufficient {name}", refusal, name, asked - (has - used))


def _predicate(name: str, reason: str) -> Lack:
    return Lack(reason, AdmissionRefusal(name, f"Predicate {name} failed"))


def _has_ports(pod: Pod, others: Sequence[Pod]) -> bool:
    """Whether no other pod uses one of the host ports that the pod asks for."""
    taken = [port for other in others for port in other.spec.host_ports]
    return not any(port.clashes(other) for port in pod.spec.host_ports for other in taken)


def _is_tolerated(pod: Pod, node: Node) -> bool:
    """Whether the pod tolerates the NoExecute taints of the node."""
    taints = [taint for taint in node.spec.taints if taint.effect == NO_EXECUTE]
    return all(tolerated(taint, pod.spec.tolerations) for taint in taints)
