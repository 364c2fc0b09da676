"""Spread: how pods are distributed over topology domains, and the filter for it."""

from __future__ import annotations

from collections.abc import Sequence

from actors.framework.refusal import Refusal
from actors.scheduler.reference.cluster import Cluster, Guest, NodeView
from actors.scheduler.reference.nodes import selects, untolerated
from testbed.objects import Pod
from testbed.objects.affinity import TopologySpreadConstraint

HARD, SOFT = "DoNotSchedule", "ScheduleAnyway"
UNEVEN = "node(s) didn't match pod topology spread constraints"
Constraints = Sequence[TopologySpreadConstraint]


def constraints_of(pod: Pod, hardness: str) -> Constraints:
    """The constraints of a pod with that `whenUnsatisfiable`: HARD or SOFT."""
    return [each for each in pod.spec.topology_spread if each.when_unsatisfiable == hardness]


def topology_spread(guest: Guest, place: NodeView, cluster: Cluster) -> Refusal | None:
    """With the pod there, its domain may not have more than `maxSkew` pods more than the emptiest
    one. `minDomains` and `matchLabelKeys` were off by default in 1.26."""
    constraints, labels = constraints_of(guest.pod, HARD), place.node.meta.labels
    for constraint in constraints:
        if constraint.topology_key not in labels:
            reason = f"{UNEVEN} (missing required label)"
            return Refusal("PodTopologySpread", (reason,), is_resolvable=False)
        counts = _counts(guest.pod, constraint, constraints, cluster)
        here = counts.get(labels[constraint.topology_key], 0) + is_meant(constraint, guest.pod)
        if counts and here - min(counts.values()) > constraint.max_skew:
            return Refusal("PodTopologySpread", (UNEVEN,))
    return None


def _counts(
    pod: Pod, constraint: TopologySpreadConstraint, constraints: Constraints, cluster: Cluster
) -> dict[str, int]:
    """How many pods the constraint counts in each domain."""
    counts: dict[str, int] = {}
    for place in cluster.places.values():
        if has_keys(place, constraints) and is_included(pod, constraint, place):
            value = place.node.meta.labels[constraint.topology_key]
            counts[value] = counts.get(value, 0) + standing(pod, constraint, place)
    return counts


def has_keys(place: NodeView, constraints: Constraints) -> bool:
    """Whether the node has the topology keys of all constraints; otherwise none counts it."""
    return all(each.topology_key in place.node.meta.labels for each in constraints)


def is_included(pod: Pod, constraint: TopologySpreadConstraint, place: NodeView) -> bool:
    """Whether the constraint counts that node, by its two policies."""
    if constraint.node_affinity_policy in (None, "", "Honor") and not selects(pod, place):
        return False
    return constraint.node_taints_policy != "Honor" or untolerated(pod, place) is None


def standing(pod: Pod, constraint: TopologySpreadConstraint, place: NodeView) -> int:
    """How many pods on the node the constraint counts: those in the namespace of its pod that match
    and are not terminating."""
    # Pods that a dry run puts there or takes away are added or subtracted even if they are
    # terminating, and so were not counted before: 1.26 does that.

    def counts(other: Guest) -> bool:
        return other.pod.meta.namespace == pod.meta.namespace and is_meant(constraint, other.pod)

    def is_going(guest: Guest) -> bool:
        return counts(guest) and guest.pod.meta.is_terminating

    here = sum(counts(each) and not is_going(each) for each in place.guests)
    return here + sum(map(is_going, place.came)) - sum(map(is_going, place.gone))


def is_meant(constraint: TopologySpreadConstraint, pod: Pod) -> bool:
    """Whether the selector matches the pod. No selector matches none, an empty one matches all."""
    selector = constraint.label_selector
    return selector is not None and selector.matches(pod.meta.labels)
