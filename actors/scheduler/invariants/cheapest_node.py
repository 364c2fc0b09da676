"""Room is made where it costs least (INV-12)."""

from __future__ import annotations

from actors.scheduler.decisions.decision import Candidate
from actors.scheduler.invariants.cycles import Cycle, CycleClaim, names, node_key
from actors.scheduler.reference.decide import first
from actors.scheduler.reference.preemption import FEWEST, choose, dry_run, stays
from actors.scheduler.reference.victims import keys_of
from testbed.policy import BUILT_IN
from testbed.turns.found import Found


class RoomIsMadeWhereItCostsLeast(CycleClaim):
    """The chosen node costs no more than any other candidate, by the keys K1 to K5. In a small
    cluster every node is evaluated, and the victims on each are those that the rules name.

    With a victim selector or a filter of the user's own, only the candidates found are compared.
    With `bug_victims_unsorted` the second key is the priority of the first victim, whatever it is.
    With `nominate=before_victims`, the node that the pod is nominated to comes before all others.
    """

    name = "room_is_made_where_it_costs_least"

    def breach_in(self, cycle: Cycle) -> str | Found:
        preemption, chosen = cycle.decision.preemption, cycle.chosen
        if preemption is None or chosen is None:
            return ""
        stay = stays(cycle.guest, cycle.cluster, preemption.candidates, cycle.switches)
        if stay:
            is_kept = chosen.node in stay
            said = f"{cycle.pod.key} is nominated to {stay[0]}, and room is made on {chosen.node}"
            return "" if is_kept else Found.of(said, node_key(stay[0]))
        price = _price(chosen, cycle)
        for other in preemption.candidates.values():
            if _price(other, cycle) < price:
                costs = f"costs less on {other.node} than on {chosen.node}"
                return Found.of(f"room for {cycle.pod.key} {costs}", node_key(other.node))
        is_own = cycle.switches.victims != BUILT_IN or not cycle.is_by_rule
        if is_own or len(cycle.cluster.places) >= FEWEST:
            return ""
        return self._breach_of_rules(cycle, chosen)

    def _breach_of_rules(self, cycle: Cycle, chosen: Candidate) -> str | Found:
        """How the choice differs from the reference's, which evaluates every node."""
        refusals, switches = cycle.findings.refusals, cycle.switches
        ours = dry_run(cycle.guest, cycle.cluster, refusals, switches, first).candidates
        here = ours.get(chosen.node)
        if here is None:
            return f"room for {cycle.pod.key} cannot be made on {chosen.node}"
        if chosen.node not in choose(ours):
            best = choose(ours)
            costs = f"costs less on {', '.join(best)} than on {chosen.node}"
            return Found.of(f"room for {cycle.pod.key} {costs}", *map(node_key, best))
        if [pod.meta.uid for pod in here.victims] != [pod.meta.uid for pod in chosen.victims]:
            found, wanted = names(chosen.victims), names(here.victims)
            text = f"{found} are to go for {cycle.pod.key} from {chosen.node}, and not {wanted}"
            return Found.of(text, *chosen.victims, *(pod for pod in here.victims))
        return ""


def _price(candidate: Candidate, cycle: Cycle) -> tuple[int, ...]:
    return keys_of(candidate.victims, candidate.violations, cycle.cluster)
