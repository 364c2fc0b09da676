"""Glance: whether a changed node is worth another attempt of a pod (preCheck, SCH-23)."""

from __future__ import annotations

from actors.framework.filters.resources import NodeResourcesFitFilter, asked_by
from actors.framework.nodeinfo import NodeInfo
from actors.framework.podinfo import PodInfo
from testbed.objects.affinity import NO_SCHEDULE, tolerated

FIT = NodeResourcesFitFilter()


def may_suit(pod: PodInfo, node: NodeInfo) -> bool:
    """Whether the node itself, with what is free on it, lets the pod fit.

    Other pods matter only by what they take: affinity and spreading are not looked at. Nor are
    taints that only keep pods from running there.
    """
    there, named = node.node, pod.pod.spec.node_name
    if there is None or named not in ("", node.name) or not pod.may_be_on(there):
        return False
    if FIT.check(asked_by(pod), node) is not None:
        return False
    if any(node.clashes(port) for port in pod.ports):
        return False
    tolerations = pod.pod.spec.tolerations
    return all(
        taint.effect != NO_SCHEDULE or tolerated(taint, tolerations) for taint in there.spec.taints
    )
