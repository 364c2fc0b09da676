"""The path of the reference: the rules as plain loops."""

from __future__ import annotations

import attrs

from actors.scheduler.reference.cluster import Cluster, Guest
from actors.scheduler.reference.decide import decide, first
from actors.scheduler.reference.feasibility import find
from actors.scheduler.reference.preemption import dry_run, why_not
from actors.scheduler.reference.scores import weigh
from actors.scheduler.switches import switches_of
from tests.conformance.answers import Answers
from tests.conformance.preempt_case import Case

SWITCHES = switches_of()
BESIDES = attrs.evolve(SWITCHES, own_nomination="ignore")


def cluster_of(case: Case) -> Cluster:
    """The Cluster that a case describes."""
    bound = [pod for pod in case.pods if pod.is_bound]
    queued = [*(pod for pod in case.pods if not pod.is_bound), case.pending]
    nominated = [(pod, pod.status.nominated_node_name) for pod in queued]
    return Cluster.of(case.nodes, bound, nominated, case.budgets)


@attrs.frozen
class ByReference:
    """Answers with the reference."""

    name: str = "reference"

    def answers(self, case: Case) -> Answers:
        """Its answers to a case."""
        cluster, pod = cluster_of(case), case.pending
        guest = Guest.of(pod)
        findings = find(guest, cluster, BESIDES)
        feasible, refusals = findings.feasible, findings.refusals
        places = [cluster.places[name] for name in feasible]
        scores = weigh(guest, places, cluster, SWITCHES) if places else {}
        refused = refusals.get(pod.status.nominated_node_name)
        found = dry_run(guest, cluster, refusals, SWITCHES, first)
        return Answers(
            decide(pod, cluster, SWITCHES),
            feasible,
            refusals,
            scores,
            why_not(pod, cluster, refused, SWITCHES),
            {} if feasible else found.candidates,
            {} if feasible else found.refusals,
        )
