"""Only less important pods are victims (INV-10)."""

from __future__ import annotations

from actors.scheduler.invariants.cycles import Cycle, CycleClaim
from actors.scheduler.reference.importance import may_displace
from testbed.turns.found import Found


class VictimsAreLessImportant(CycleClaim):
    """When it is decided on, every victim has a lower priority than the preemptor, or a lower QoS
    class, if `victim_primary` says that this comes first (CTL-56). A pod with
    `preemptionPolicy: Never` has no victims; nor has any pod if preemption is switched off,
    or is another program's (CTL-50)."""

    name = "victims_are_less_important"

    def breach_in(self, cycle: Cycle) -> str | Found:
        chosen, pod = cycle.chosen, cycle.pod
        if chosen is None:
            return ""
        if cycle.switches.disable_preemption or cycle.switches.preemptor != cycle.program:
            return f"{pod.key} preempts, though preemption is off"
        if pod.spec.preemption_policy == "Never":
            return f"{pod.key} preempts, and must never"
        for victim in chosen.victims:
            if not may_displace(pod, victim, cycle.switches):
                ranks = f"{victim.priority} against {pod.priority}"
                text = f"{victim.key} is to go for {pod.key}: priority {ranks}"
                return Found.of(text, victim, fields="spec.priority")
        return ""
