"""Preemption evicts pods only from the node it makes room on (INV-19)."""

from __future__ import annotations

from actors.scheduler.invariants.cycles import Cycle, CycleClaim, node_key
from testbed.turns.found import Found


class OnlyItsOwnNodeIsCleared(CycleClaim):
    """Every victim is on the node that the pod is nominated to. With the experiment
    `cross_node_victims`, no more victims are on other nodes than it allows."""

    name = "only_its_own_node_is_cleared"

    def breach_in(self, cycle: Cycle) -> str | Found:
        chosen, pod = cycle.chosen, cycle.pod
        if chosen is None:
            return ""
        far = [each for each in chosen.victims if each.spec.node_name != chosen.node]
        if len(far) > cycle.switches.cross_node_victims:
            there = far[0].spec.node_name
            text = f"{far[0].key} on {there} is to go for {pod.key}, on {chosen.node}"
            return Found.of(text, far[0], node_key(there), fields="spec.node_name")
        return ""
