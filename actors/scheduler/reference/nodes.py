"""Nodes: the filters that look at the node alone, not at the pods on it."""

from __future__ import annotations

from actors.framework.refusal import Refusal
from actors.scheduler.reference.cluster import Cluster, Guest, NodeView
from testbed.objects import Pod
from testbed.objects.affinity import NO_EXECUTE, NO_SCHEDULE, Taint, tolerated

UNSCHEDULABLE = Taint("node.kubernetes.io/unschedulable", effect=NO_SCHEDULE)
"""The taint that a pod must tolerate to go to a cordoned node."""


def unresolvable(filter: str, reason: str) -> Refusal:
    """A Refusal that no preemption can resolve."""
    return Refusal(filter, (reason,), is_resolvable=False)


def node_unschedulable(guest: Guest, place: NodeView, cluster: Cluster) -> Refusal | None:
    """A cordoned node takes only pods that tolerate the cordon."""
    if place.node.spec.unschedulable and not tolerated(UNSCHEDULABLE, guest.pod.spec.tolerations):
        return unresolvable("NodeUnschedulable", "node(s) were unschedulable")
    return None


def node_name(guest: Guest, place: NodeView, cluster: Cluster) -> Refusal | None:
    """A pod that names a node goes to no other."""
    if guest.pod.spec.node_name not in ("", place.name):
        return unresolvable("NodeName", "node(s) didn't match the requested node name")
    return None


def taint_toleration(guest: Guest, place: NodeView, cluster: Cluster) -> Refusal | None:
    """All NoSchedule and NoExecute taints must be tolerated; the first that is not is named."""
    taint = untolerated(guest.pod, place)
    if taint is None:
        return None
    text = f"node(s) had untolerated taint {{{taint.key}: {taint.value}}}"
    return unresolvable("TaintToleration", text)


def untolerated(pod: Pod, place: NodeView) -> Taint | None:
    """The first such taint that the pod does not tolerate, or None."""
    for taint in place.node.spec.taints:
        strict = taint.effect in (NO_SCHEDULE, NO_EXECUTE)
        if strict and not tolerated(taint, pod.spec.tolerations):
            return taint
    return None


def node_affinity(guest: Guest, place: NodeView, cluster: Cluster) -> Refusal | None:
    """The node must match the node selector and the node affinity of the pod."""
    if selects(guest.pod, place):
        return None
    return unresolvable("NodeAffinity", "node(s) didn't match Pod's node affinity/selector")


def selects(pod: Pod, place: NodeView) -> bool:
    """Whether the node matches the node selector and the node affinity of the pod."""
    return pod.spec.may_be_on(place.name, place.node.meta.labels)
