"""A pod goes only where it fits, beside those who are to come there (INV-15)."""

from __future__ import annotations

from actors.scheduler.invariants.cycles import Cycle, CycleClaim
from actors.scheduler.reference.filters import refusal


class PodsGoWhereTheyFit(CycleClaim):
    """By what the scheduler knew when it chose a node: all that is there, the pod, and those no
    less important that are nominated there fit together, and each of its demands is met; and they
    are without those nominated ones, too (SCH-59).

    A scheduler of old, to which nominations mean nothing, breaches it: that is how room is stolen.
    Nothing is claimed where filters are one's own.
    """

    name = "pods_go_where_they_fit"

    def said_of(self, cycle: Cycle) -> str:
        node = cycle.decision.node
        if not node or not cycle.is_by_rule:
            return ""
        place = cycle.cluster.places.get(node)
        if place is None:
            return f"{cycle.pod.key} goes to {node}, which is not there"
        refused = refusal(cycle.guest, place, cycle.cluster)
        if refused is None:
            return ""
        return f"{cycle.pod.key} goes to {node}: {', '.join(refused.reasons)}"
