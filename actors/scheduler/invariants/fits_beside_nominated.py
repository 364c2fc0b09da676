"""A pod goes only where it fits, beside the pods nominated there (INV-15)."""

from __future__ import annotations

from actors.scheduler.invariants.cycles import Cycle, CycleClaim
from actors.scheduler.reference.decide import outranked
from actors.scheduler.reference.filters import refusal


class PodsGoWhereTheyFit(CycleClaim):
    """By what the scheduler knew when it chose a node, the pod fits there twice: beside the pods
    there and those nominated there that are no less important; and without the nominated ones
    (SCH-59).

    A scheduler that ignores nominations violates it: that is how room is stolen. Where kubelets
    preempt, the pods that they will end are not counted, but only if the pod fits nowhere else
    (CTL-54). Nothing is claimed if a filter is not built in.
    """

    name = "pods_go_where_they_fit"

    def breach_in(self, cycle: Cycle) -> str:
        node = cycle.decision.node
        if not node or not cycle.is_by_rule:
            return ""
        cluster = cycle.cluster
        if cycle.decision.displaces:
            if cycle.findings.feasible:
                return f"{cycle.pod.key} goes to {node} in place of others, and fits elsewhere"
            cluster = cluster.without(outranked(cycle.guest, cluster))
        place = cluster.places.get(node)
        if place is None:
            return f"{cycle.pod.key} goes to {node}, which is not there"
        refused = refusal(cycle.guest, place, cluster)
        if refused is None:
            return ""
        return f"{cycle.pod.key} goes to {node}: {', '.join(refused.reasons)}"
