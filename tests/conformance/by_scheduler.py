"""The path of the scheduler: its cache, Snapshot, filters, scores and preemption."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

import attrs

from actors.framework.filters import FILTERS
from actors.framework.podinfo import PodInfo, info_of
from actors.framework.snapshot import Snapshot
from actors.scheduler.cluster.cache import SchedulerCache
from actors.scheduler.decider import Decider
from actors.scheduler.decisions.pick import Pick, the_first
from actors.scheduler.placing.scoring import scores_of
from actors.scheduler.preemption.budgets import Budgets
from actors.scheduler.preemption.candidate import Evaluator
from actors.scheduler.preemption.eligibility import why_not_eligible
from actors.scheduler.preemption.importance import outranked_by
from actors.scheduler.preemption.preemption import search
from actors.scheduler.preemption.preemptor import Preemptor
from actors.scheduler.preemption.victims import Greedy
from actors.scheduler.scores import PLACEMENTS
from actors.scheduler.switches import SchedulerSwitches, switches_of
from testbed.objects import Node, Pod
from tests.conformance.answers import Answers
from tests.conformance.preempt_case import Case

SWITCHES = switches_of()
BESIDES = attrs.evolve(SWITCHES, own_nomination="ignore")


@attrs.frozen
class Nominated:
    """The nominations of a case, as a cycle reads them."""

    nominated: Mapping[str, Sequence[PodInfo]]

    @classmethod
    def of(cls, pods: Iterable[tuple[Pod, str]]) -> Nominated:
        """These pods, each nominated to that node, in order."""
        nominated: defaultdict[str, list[PodInfo]] = defaultdict(list)
        for pod, node in pods:
            nominated[node].append(info_of(pod))
        return cls(nominated)


def snapshot_of(
    nodes: Iterable[Node],
    bound: Iterable[Pod],
    namespaces: Mapping[str, Mapping[str, str]] | None = None,
) -> Snapshot:
    """The Snapshot of a scheduler's cache with these nodes and pods."""
    cache = SchedulerCache()
    cache.namespaces = namespaces or {}
    for node in nodes:
        cache.add_node(node)
    for pod in bound:
        cache.add_pod(pod)
    return cache.snapshot()


def decider_of(switches: SchedulerSwitches, pick: Pick = the_first) -> Decider:
    """The Decider under these switches."""
    return Decider(switches, FILTERS, PLACEMENTS[switches.placement], pick)


@attrs.frozen
class ByScheduler:
    """Answers with the scheduler."""

    name: str = "scheduler"

    def answers(self, case: Case) -> Answers:
        """Its answers to a case."""
        pod, own = case.pending, case.pending.status.nominated_node_name
        snapshot = snapshot_of(case.nodes, (each for each in case.pods if each.is_bound))
        queued = [*(each for each in case.pods if not each.is_bound), pod]
        nominated = Nominated.of((each, each.status.nominated_node_name) for each in queued)
        found = decider_of(BESIDES).feasibility(pod, snapshot, nominated)
        preemptor = Preemptor.of(found.pod, SWITCHES, 0)
        evaluator = Evaluator(preemptor, found, Budgets(case.budgets), Greedy())
        dry = search(evaluator, [] if found.rows else found.potential)
        scores = PLACEMENTS[SWITCHES.placement] if found.rows else ()
        return Answers(
            decider_of(SWITCHES).decide(pod, snapshot, nominated, case.budgets),
            found.feasible,
            found.refusals,
            scores_of(found.pod, snapshot, found.rows, scores),
            why_not_eligible(
                pod,
                snapshot.get(own),
                found.refusals.get(own),
                outranked_by(pod, SWITCHES),
                SWITCHES.eligibility_terminating,
            ),
            dry.candidates,
            dry.refusals,
        )
