"""Room is made where it costs least (INV-12)."""

from __future__ import annotations

from actors.scheduler.decisions.decision import Candidate
from actors.scheduler.invariants.cycles import Cycle, CycleClaim, names
from actors.scheduler.reference.decide import first
from actors.scheduler.reference.preemption import FEWEST, choose, dry_run, stays
from actors.scheduler.reference.victims import keys_of
from testbed.policy import BUILT_IN


class RoomIsMadeWhereItCostsLeast(CycleClaim):
    """The chosen node costs no more than any other candidate, by the keys K1 to K5. In a small
    cluster every node is evaluated, and the victims on each are those that the rules name.

    With a victim selector or a filter of the user's own, only the candidates found are compared.
    With `bug_victims_unsorted` the second key is the priority of the first victim, whatever it is.
    With `nominate=before_victims`, the node that the pod is nominated to comes before all others.
    """

    name = "room_is_made_where_it_costs_least"

    def breach_in(self, cycle: Cycle) -> str:
        preemption, chosen = cycle.decision.preemption, cycle.chosen
        if preemption is None or chosen is None:
            return ""
        stay = stays(cycle.guest, cycle.cluster, preemption.candidates, cycle.switches)
        if stay:
            is_kept = chosen.node in stay
            said = f"{cycle.pod.key} is nominated to {stay[0]}, and room is made on {chosen.node}"
            return "" if is_kept else said
        price = _price(chosen, cycle)
        for other in preemption.candidates.values():
            if _price(other, cycle) < price:
                return f"room for {cycle.pod.key} costs less on {other.node} than on {chosen.node}"
        is_own = cycle.switches.victims != BUILT_IN or not cycle.is_by_rule
        if is_own or len(cycle.cluster.places) >= FEWEST:
            return ""
        return self._breach_of_rules(cycle, chosen)

    def _breach_of_rules(self, cycle: Cycle, chosen: Candidate) -> str:
        """How the choice differs from the reference's, which evaluates every node."""
        refusals, switches = cycle.findings.refusals, cycle.switches
        ours = dry_run(cycle.guest, cycle.cluster, refusals, switches, first).candidates
        here = ours.get(chosen.node)
        if here is None:
            return f"room for {cycle.pod.key} cannot be made on {chosen.node}"
        if chosen.node not in choose(ours):
            best = ", ".join(choose(ours))
            return f"room for {cycle.pod.key} costs less on {best} than on {chosen.node}"
        if [pod.meta.uid for pod in here.victims] != [pod.meta.uid for pod in chosen.victims]:
            found, wanted = names(chosen.victims), names(here.victims)
            return f"{found} are to go for {cycle.pod.key} from {chosen.node}, and not {wanted}"
        return ""


def _price(candidate: Candidate, cycle: Cycle) -> tuple[int, ...]:
    return keys_of(candidate.victims, candidate.violations, cycle.cluster)
