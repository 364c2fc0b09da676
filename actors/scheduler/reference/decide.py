"""Decide: one scheduling cycle of one pod."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import attrs

from actors.scheduler.decisions.decision import KEEP, Decision, Preemption
from actors.scheduler.reference.cluster import Cluster, Guest
from actors.scheduler.reference.feasibility import FilterResults, find
from actors.scheduler.reference.messages import unfit
from actors.scheduler.reference.preemption import Pick, preempt
from actors.scheduler.reference.scores import best_of, weigh
from actors.scheduler.switches import SchedulerSwitches
from testbed.objects import Pod

NO_NODES = "no nodes available to schedule pods"


def first(label: str, alternatives: Sequence[str]) -> str:
    """Pick the first alternative, the dullest."""
    return alternatives[0]


def as_it_is(pod: Pod) -> Pod | None:
    """The informer's pod when it has not changed since."""
    return pod


def decide(
    pod: Pod,
    cluster: Cluster,
    switches: SchedulerSwitches,
    *,
    pick: Pick = first,
    known: Callable[[Pod], Pod | None] = as_it_is,
    start: int = 0,
) -> Decision:
    """One cycle of a pod: which node it gets, or whether it preempts.

    1. Without nodes there is nothing to decide, and its nomination is cleared (SCH-52).
    2. It gets the feasible node with the most points; among equals, one is picked (SCH-61).
    3. If no node is feasible, and there was no error, it may preempt: the pod as `known` gives it
       by then (SCH-70). Where kubelets preempt, it gets a node as if no less important pod were
       there (CTL-54).
    """
    decision = Decision(pod, len(cluster.places))
    if not cluster.places:
        return attrs.evolve(decision, nominate="", message=NO_NODES)
    findings = find(Guest.of(pod), cluster, switches, start)
    if findings.error:
        return attrs.evolve(decision, nominate="", message=findings.error, is_error=True)
    decision = _told(decision, findings)
    if findings.feasible:
        return _placed(decision, cluster, switches, pick)
    fresh, preemption = known(pod), None
    if not switches.disable_preemption and switches.preemptor == "kubelet":
        emptied = cluster.without(outranked(Guest.of(pod), cluster))
        alone = find(Guest.of(pod), emptied, switches)
        if alone.feasible:
            placed = _placed(_told(decision, alone), emptied, switches, pick)
            return attrs.evolve(placed, displaces=True)
    if switches.disable_preemption or switches.preemptor != "scheduler":
        pass
    elif fresh is None:
        said = f'pod "{pod.meta.name}" not found'
        preemption = Preemption(is_eligible=False, said=said, code="Error")
    else:
        preemption = preempt(Guest.of(fresh), cluster, findings.refusals, switches, pick)
    return _pending(decision, findings, preemption)


def _told(decision: Decision, findings: FilterResults) -> Decision:
    refusals = findings.refusals
    failed = tuple(sorted({each.filter for each in refusals.values()}))
    return attrs.evolve(decision, feasible=findings.feasible, refusals=refusals, failed=failed)


def outranked(guest: Guest, cluster: Cluster) -> list[Guest]:
    """The pods of lower priority, anywhere; none if the pod must never preempt."""
    if guest.pod.spec.preemption_policy == "Never":
        return []
    return [each for _, each in cluster.guests() if each.pod.priority < guest.pod.priority]


def _placed(
    decision: Decision, cluster: Cluster, switches: SchedulerSwitches, pick: Pick
) -> Decision:
    names = decision.feasible
    if len(names) == 1:
        return attrs.evolve(decision, node=names[0], best=names)
    places = [cluster.places[name] for name in names]
    scores = weigh(Guest.of(decision.pod), places, cluster, switches)
    best = best_of(scores)
    node = pick("node", best) if len(best) > 1 else best[0]
    return attrs.evolve(decision, node=node, scores=scores, best=best)


def _pending(
    decision: Decision, findings: FilterResults, preemption: Preemption | None
) -> Decision:
    refusals = findings.refusals
    nominate, after = KEEP, ""
    if preemption is not None:
        if preemption.said and preemption.code != "Error":
            after = f"preemption: {preemption.said}"
        if preemption.chosen is not None:
            nominate = preemption.chosen.node
        elif preemption.is_eligible and preemption.code == "Unschedulable":
            nominate = ""
    return attrs.evolve(
        decision,
        preemption=preemption,
        nominate=nominate,
        message=unfit(decision.nodes, refusals, findings.at_once, after),
    )
