"""A pod that waits for its victims to terminate does not preempt again (INV-13)."""

from __future__ import annotations

from actors.scheduler.invariants.cycles import Cycle, CycleClaim, Cycles, node_key
from actors.scheduler.reference.feasibility import nomination_of
from actors.scheduler.reference.preemption import why_not
from testbed.turns.found import Found


class WhoWaitsDoesNotPreempt(CycleClaim):
    """A pod decides on no further victims while its informer shows it nominated to a node on which
    pods of lower priority are terminating; unless no eviction makes that node feasible.

    If its nomination has not been seen yet, or was lost, it cannot know that it waits (SCH-112).
    Such a decision is no violation, but it is counted.
    """

    name = "who_waits_does_not_preempt"

    def __init__(self, cycles: Cycles | None = None) -> None:
        super().__init__(cycles)
        self.blind = 0
        """How many decisions were made because a nomination could not be seen."""
        self._nominated: dict[tuple[str, str], str] = {}
        """Where room was last made for a pod, by the scheduler's name and the pod's uid."""

    def breach_in(self, cycle: Cycle) -> str | Found:
        chosen = cycle.chosen
        if chosen is None:
            return ""
        key = (cycle.who, cycle.pod.meta.uid)
        known = cycle.books.informers.pod(cycle.pod.key) or cycle.pod
        node = nomination_of(known, cycle.switches)
        self.blind += not node and key in self._nominated
        self._nominated[key] = chosen.node
        refused = cycle.findings.refusals.get(node)
        if not node or not why_not(known, cycle.cluster, refused, cycle.switches):
            return ""
        text = f"{known.key} waits for pods to go from {node}, and makes others go"
        return Found.of(text, known, node_key(node), *chosen.victims)
