"""How unevenly pods stand over the values of a label, and what is allowed of that."""

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
    """Those of its constraints that must be kept, or that are only liked."""
    return [each for each in pod.spec.topology_spread if each.when_unsatisfiable == hardness]


def topology_spread(guest: Guest, place: NodeView, cluster: Cluster) -> Refusal | None:
    """With the pod there, no constraint may be more uneven than it allows: more pods above the
    emptiest value. `minDomains` and `matchLabelKeys` were off by default in 1.26."""
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
    """How many pods the constraint counts at each value of its label."""
    counts: dict[str, int] = {}
    for place in cluster.places.values():
        if has_keys(place, constraints) and is_included(pod, constraint, place):
            value = place.node.meta.labels[constraint.topology_key]
            counts[value] = counts.get(value, 0) + standing(pod, constraint, place)
    return counts


def has_keys(place: NodeView, constraints: Constraints) -> bool:
    """Whether the node has the label of every one of them; another counts for none."""
    return all(each.topology_key in place.node.meta.labels for each in constraints)


def is_included(pod: Pod, constraint: TopologySpreadConstraint, place: NodeView) -> bool:
    """Whether the constraint looks at that node at all, by its two policies."""
    if constraint.node_affinity_policy in (None, "", "Honor") and not selects(pod, place):
        return False
    return constraint.node_taints_policy != "Honor" or untolerated(pod, place) is None


def standing(pod: Pod, constraint: TopologySpreadConstraint, place: NodeView) -> int:
    """How many pods on the node the constraint counts: in the namespace of its pod, and not about
    to go. Whoever is put there or taken away to see what would be then is added or subtracted even
    if he is about to go, and so would not be counted: the real one does that."""

    def counts(other: Guest) -> bool:
        return other.pod.meta.namespace == pod.meta.namespace and is_meant(constraint, other.pod)

    def is_going(guest: Guest) -> bool:
        return counts(guest) and guest.pod.meta.is_terminating

    here = sum(counts(each) and not is_going(each) for each in place.guests)
    return here + sum(map(is_going, place.came)) - sum(map(is_going, place.gone))


def is_meant(constraint: TopologySpreadConstraint, pod: Pod) -> bool:
    """Whether the constraint's selector means the pod; None means nobody, an empty one all."""
    selector = constraint.label_selector
    return selector is not None and selector.matches(pod.meta.labels)
