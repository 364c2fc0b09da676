"""Filters: all of them in their order; the first that refuses gives the Refusal."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from actors.framework.refusal import Refusal
from actors.scheduler.reference.cluster import Cluster, Guest, NodeView
from actors.scheduler.reference.neighbours import inter_pod_affinity
from actors.scheduler.reference.nodes import (
    node_affinity,
    node_name,
    node_unschedulable,
    taint_toleration,
)
from actors.scheduler.reference.room import node_ports, resources
from actors.scheduler.reference.spread import topology_spread

Check = Callable[[Guest, NodeView, Cluster], Refusal | None]
"""Why a node refuses a pod, or None."""

FILTERS: Mapping[str, Check] = {
    "NodeUnschedulable": node_unschedulable,
    "NodeName": node_name,
    "TaintToleration": taint_toleration,
    "NodeAffinity": node_affinity,
    "NodePorts": node_ports,
    "NodeResourcesFit": resources,
    "PodTopologySpread": topology_spread,
    "InterPodAffinity": inter_pod_affinity,
}
"""The filters by name, in the order in which they run (SCH-56)."""


def refusal(
    guest: Guest, place: NodeView, cluster: Cluster, *, yields: bool = True
) -> Refusal | None:
    """Why the node refuses the pod; in two passes if nominated pods count (`yields`) (SCH-59).

    1. With all pods of the same or higher priority that are nominated there, as if they had come.
    2. Without them: the pod may not depend on pods that may never come.
    """
    awaited = [each for each in place.nominated if yields and _comes_before(each, guest)]
    if awaited:
        crowded = place.with_guests(awaited)
        refused = _first(guest, crowded, cluster.having(crowded))
        if refused is not None:
            return refused
    return _first(guest, place, cluster)


def _comes_before(other: Guest, guest: Guest) -> bool:
    return other.uid != guest.uid and other.pod.priority >= guest.pod.priority


def _first(guest: Guest, place: NodeView, cluster: Cluster) -> Refusal | None:
    for check in FILTERS.values():
        refused = check(guest, place, cluster)
        if refused is not None:
            return refused
    return None
