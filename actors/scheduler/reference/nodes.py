"""Which nodes a pod may go to, by what they are: whoever else is there makes no difference."""

from __future__ import annotations

from actors.framework.refusal import Refusal
from actors.scheduler.reference.cluster import Cluster, Guest, NodeView
from testbed.objects import Pod
from testbed.objects.affinity import NO_EXECUTE, NO_SCHEDULE, Taint, tolerated

UNSCHEDULABLE = Taint("node.kubernetes.io/unschedulable", effect=NO_SCHEDULE)
"""What a pod must put up with to go to a node that is cordoned."""


def unresolvable(filter: str, reason: str) -> Refusal:
    """What no preemption would change."""
    return Refusal(filter, (reason,), is_resolvable=False)


def node_unschedulable(guest: Guest, place: NodeView, cluster: Cluster) -> Refusal | None:
    """A cordoned node takes only who tolerates that."""
    if place.node.spec.unschedulable and not tolerated(UNSCHEDULABLE, guest.pod.spec.tolerations):
        return unresolvable("NodeUnschedulable", "node(s) were unschedulable")
    return None


def node_name(guest: Guest, place: NodeView, cluster: Cluster) -> Refusal | None:
    """Who asks for a node by its name gets no other."""
    if guest.pod.spec.node_name not in ("", place.name):
        return unresolvable("NodeName", "node(s) didn't match the requested node name")
    return None


def taint_toleration(guest: Guest, place: NodeView, cluster: Cluster) -> Refusal | None:
    """Every taint that keeps pods away must be tolerated; the first that is not is named."""
    taint = untolerated(guest.pod, place)
    if taint is None:
        return None
    text = f"node(s) had untolerated taint {{{taint.key}: {taint.value}}}"
    return unresolvable("TaintToleration", text)


def untolerated(pod: Pod, place: NodeView) -> Taint | None:
    """The first taint that keeps it away."""
    for taint in place.node.spec.taints:
        strict = taint.effect in (NO_SCHEDULE, NO_EXECUTE)
        if strict and not tolerated(taint, pod.spec.tolerations):
            return taint
    return None


def node_affinity(guest: Guest, place: NodeView, cluster: Cluster) -> Refusal | None:
    """The node must be one of those the pod selects."""
    if selects(guest.pod, place):
        return None
    return unresolvable("NodeAffinity", "node(s) didn't match Pod's node affinity/selector")


def selects(pod: Pod, place: NodeView) -> bool:
    """Whether the node is one that the pod may go to, by its name and labels."""
    return pod.spec.may_be_on(place.name, place.node.meta.labels)
