"""The reference and the scheduler itself decide the same in whatever situation is drawn."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings

from actors.scheduler.decision import Candidate, Decision, Refusal
from actors.scheduler.reference.cluster import Cluster
from actors.scheduler.reference.decide import decide
from conformance.answers import IN_VAIN
from conformance.by_scheduler import Nominated, decider_of, snapshot_of
from conformance.drawn import NAMESPACES, NOW_MS, Situation, situations

WHOLE = settings(
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)


def by_reference(it: Situation) -> Decision:
    """What the reference decides."""
    cluster = Cluster.of(it.nodes, it.bound, it.nominated, it.budgets, NAMESPACES, NOW_MS)
    return decide(it.pod, cluster, it.switches, pick=picker(it.turn))


def by_scheduler(it: Situation) -> Decision:
    """What the scheduler itself decides."""
    snapshot = snapshot_of(it.nodes, it.bound, NAMESPACES)
    decider = decider_of(it.switches, picker(it.turn))
    nominated = Nominated.of(it.nominated)
    return decider.decide(it.pod, snapshot, nominated, it.budgets, now_ms=NOW_MS)


def picker(turn: int) -> Any:
    """Picks always the alternative of that number, counted round."""
    return lambda label, names: names[turn % len(names)]


def told(decision: Decision) -> dict[str, Any]:
    """All of a decision, so that two are compared line by line."""
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
    """Each refusal in full; nodes where nothing would help need not be told one by one."""
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


@given(situations())
@settings(WHOLE, max_examples=100)
def test_both_paths_decide_the_same(it: Situation) -> None:
    """In all that a story could tell of it."""
    assert told(by_scheduler(it)) == told(by_reference(it))


@pytest.mark.long
@given(situations(nodes_max=6, pods_max=14))
@settings(WHOLE, max_examples=20_000)
def test_both_paths_decide_the_same_of_many(it: Situation) -> None:
    """The same for long, of larger clusters."""
    assert told(by_scheduler(it)) == told(by_reference(it))
