"""Who waits for victims to go makes nobody else go (INV-13)."""

from __future__ import annotations

from actors.scheduler.invariants.cycles import Cycle, CycleClaim, Cycles
from actors.scheduler.reference.feasibility import nomination_of
from actors.scheduler.reference.preemption import why_not


class WhoWaitsDoesNotPreempt(CycleClaim):
    """A pod that its informer shows nominated to a node where pods of lower priority are on their
    way decides on no further victims, unless that node will not do for it whoever goes.

    If its nomination has not been seen yet, or was lost, it cannot know that it waits (SCH-112):
    what it decides then is no breach, and counted.
    """

    name = "who_waits_does_not_preempt"

    def __init__(self, cycles: Cycles | None = None) -> None:
        super().__init__(cycles)
        self.blind = 0
        """How many decisions were made because a nomination was not to be seen."""
        self._nominated: dict[tuple[str, str], str] = {}
        """Where room was last made for a pod, by the scheduler's name and the pod's uid."""

    def said_of(self, cycle: Cycle) -> str:
        chosen = cycle.chosen
        if chosen is None:
            return ""
        key = (cycle.who, cycle.pod.meta.uid)
        known = cycle.books.known(cycle.pod.key) or cycle.pod
        node = nomination_of(known, cycle.switches)
        self.blind += not node and key in self._nominated
        self._nominated[key] = chosen.node
        refused = cycle.findings.refusals.get(node)
        if not node or not why_not(known, cycle.cluster, refused, cycle.switches):
            return ""
        return f"{known.key} waits for pods to go from {node}, and makes others go"
