"""No preemption is pointless: it is needed, it helps, and each victim is needed (INV-11)."""

from __future__ import annotations

from collections.abc import Sequence

from actors.scheduler.invariants.cycles import Cycle, CycleClaim, node_key
from actors.scheduler.reference.cluster import Guest
from actors.scheduler.reference.filters import refusal
from actors.scheduler.reference.neighbours import near
from testbed.turns.found import Found


class NoPreemptionIsPointless(CycleClaim):
    """By what the scheduler knew, the pod fits nowhere as things are; it fits on the chosen node
    without the victims; and it does not if any one of them stays.

    The last part is not claimed of a pod with a required affinity: there, sparing two pods may help
    where sparing either one does not. Nothing is claimed if a filter is not built in.
    """

    name = "no_preemption_is_pointless"

    def breach_in(self, cycle: Cycle) -> str | Found:
        chosen, pod = cycle.chosen, cycle.pod
        if chosen is None or not cycle.is_by_rule:
            return ""
        if cycle.findings.feasible:
            fits = cycle.findings.feasible[0]
            return Found.of(
                f"{pod.key} preempts, and fits on {fits} as things are", pod, node_key(fits)
            )
        if not chosen.victims:
            return f"{pod.key} preempts on {chosen.node}, and nobody goes"
        if len(cycle.victims) < len(chosen.victims):
            return f"{pod.key} preempts on {chosen.node} somebody who is not there"
        if not self._fits(cycle, cycle.victims):
            return f"{pod.key} does not fit on {chosen.node} without its victims either"
        if near(pod):
            return ""
        for spared in cycle.victims:
            if self._fits(cycle, [each for each in cycle.victims if each is not spared]):
                text = f"{spared.pod.key} need not go: {pod.key} fits on {chosen.node} beside it"
                return Found.of(text, spared.pod)
        return ""

    def _fits(self, cycle: Cycle, gone: Sequence[Guest]) -> bool:
        assert cycle.chosen is not None
        then = cycle.cluster.without(gone)
        yields = cycle.switches.nominated_accounting != "none"
        place = then.places[cycle.chosen.node]
        return refusal(cycle.guest, place, then, yields=yields) is None
