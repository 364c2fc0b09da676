"""The reference and the scheduler decide the same in every situation that is drawn.

What the long test finds is kept: as a rule with a known result in `test_rules.py`, or in SELDOM.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings

from actors.framework.refusal import Refusal
from actors.scheduler.decisions.decision import Candidate, Decision
from actors.scheduler.reference.cluster import Cluster
from actors.scheduler.reference.decide import decide
from actors.scheduler.switches import SchedulerSwitches
from testbed.objects import LabelSelector, Node, Pod
from testbed.objects.affinity import TopologySpreadConstraint
from testbed.objects.quantity import amounts
from tests.conformance.answers import IN_VAIN
from tests.conformance.by_scheduler import Nominated, decider_of, snapshot_of
from tests.each_row import each_row
from tests.models.drawn_cases import NAMESPACES, NOW_MS, ZONE, Situation, situations

WHOLE = settings(
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)


def by_reference(it: Situation) -> Decision:
    """The decision of the reference."""
    cluster = Cluster.of(it.nodes, it.bound, it.nominated, it.budgets, NAMESPACES, NOW_MS)
    return decide(it.pod, cluster, it.switches, pick=picker(it.turn))


def by_scheduler(it: Situation) -> Decision:
    """The decision of the scheduler."""
    snapshot = snapshot_of(it.nodes, it.bound, NAMESPACES)
    decider = decider_of(it.switches, picker(it.turn))
    nominated = Nominated.of(it.nominated)
    return decider.decide(it.pod, snapshot, nominated, it.budgets, now_ms=NOW_MS)


def picker(turn: int) -> Any:
    """Always picks the alternative with that number, modulo their count."""
    return lambda label, names: names[turn % len(names)]


def told(decision: Decision) -> dict[str, Any]:
    """All of a decision, to be compared line by line."""
    preemption = decision.preemption
    chosen = preemption.chosen if preemption else None
    told = {
        "nodes": decision.nodes,
        "node": decision.node,
        "feasible": decision.feasible,
        "refusals": refused(decision.refusals),
        "scores": {name: dict(points) for name, points in decision.scores.items()},
        "best": decision.best,
        "nominate": decision.nominate,
        "message": decision.message,
        "is_error": decision.is_error,
        "failed": decision.failed,
    }
    if preemption is not None:
        told |= {
            "is_eligible": preemption.is_eligible,
            "said": preemption.said,
            "code": preemption.code,
            "candidates": {n: candidate(each) for n, each in preemption.candidates.items()},
            "in_vain": refused(preemption.refusals),
            "chosen": chosen and chosen.node,
            "tied": preemption.tied,
        }
    return told


def refused(refusals: Mapping[str, Refusal]) -> dict[str, Any]:
    """Each Refusal in full; nodes where preemption cannot help need not be listed one by one."""
    return {
        name: (each.filter, each.reasons, each.is_resolvable)
        for name, each in refusals.items()
        if each.reasons != (IN_VAIN,)
    }


def candidate(candidate: Candidate) -> Sequence[Any]:
    """A candidate in full."""
    victims = [each.meta.name for each in candidate.victims]
    lower = [each.meta.name for each in candidate.lower]
    return victims, candidate.violations, lower, candidate.keys


def seldom(pod: Pod, *others: Pod) -> Situation:
    """A situation of two nodes in two zones; pods without a node are nominated."""
    nodes = [Node.of(f"n{n}", cpu_m=n * 4000, memory=2**32, labels={ZONE: f"z{n}"}) for n in (1, 2)]
    bound = tuple(each for each in others if each.is_bound)
    nominated = tuple((each, "n1") for each in others if not each.is_bound)
    return Situation(tuple(nodes), bound, nominated, (), pod, SchedulerSwitches(), 0)


def one(name: str, *spread: TopologySpreadConstraint, goes: bool = False, **spec: Any) -> Pod:
    """A pod of the application a, with a uid."""
    pod = Pod.of(name, cpu_m=100, labels={"app": "a"}, topology_spread=spread, **spec)
    return pod.with_meta(uid=f"uid-{name}", deleted_ms=5000 if goes else None)


OF_ALL, OF_ITS_OWN = LabelSelector(), LabelSelector({"app": "a"})
SELDOM = {
    "minDomains": seldom(
        one("p", TopologySpreadConstraint(1, ZONE, "DoNotSchedule", OF_ITS_OWN, min_domains=3)),
        one("a", node_name="n1"),
        one("b", node_name="n2"),
    ),
    "an empty selector": seldom(
        one("p", TopologySpreadConstraint(1, ZONE, "ScheduleAnyway", OF_ALL)),
        one("a", node_name="n1"),
    ),
    "a nominated pod that is about to go": seldom(
        one("p", TopologySpreadConstraint(1, ZONE, "DoNotSchedule", OF_ITS_OWN)),
        one("q", goes=True),
    ),
    "an overhead of cpu": seldom(one("p", overhead=amounts({"cpu": "1500m"}))),
}


@each_row("what", SELDOM)
def test_both_paths_decide_the_same_of_what_is_seldom_drawn(what: str) -> None:
    """Two rare things must meet before these make a difference."""
    assert told(by_scheduler(SELDOM[what])) == told(by_reference(SELDOM[what]))


@given(situations())
@settings(WHOLE, max_examples=100)
def test_both_paths_decide_the_same(it: Situation) -> None:
    """In all that a decision holds."""
    assert told(by_scheduler(it)) == told(by_reference(it))


@pytest.mark.long
@pytest.mark.parametrize("part", range(100))
@given(it=situations(nodes_max=6, pods_max=14))
@settings(WHOLE, max_examples=2000)
def test_both_paths_decide_the_same_of_many(part: int, it: Situation) -> None:
    """In 200,000 more and larger clusters, others each time. In parts, for Hypothesis remembers all
    that a test has drawn."""
    assert told(by_scheduler(it)) == told(by_reference(it))
