"""Facts: what a trace keeps of one cycle, so that a story can say why it ended as it did."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from actors.framework.refusal import Refusal
from actors.scheduler.decisions.decision import Candidate, Decision, Preemption
from actors.scheduler.decisions.sentence import sentence_of
from actors.scheduler.queue.queued import QueuedPod

NODES_MAX = 20
"""With more nodes than this, only counts are kept."""


def facts_of(queued: QueuedPod, decision: Decision) -> dict[str, Any]:
    """The fields of a `cycle` record: the pod, the decision, its grounds; without empty ones."""
    pod = decision.pod
    facts: dict[str, Any] = {
        "pod": pod.key,
        "uid": pod.meta.uid,
        "attempt": queued.attempts,
        "nodes": decision.nodes,
        "node": decision.node,
        "said": sentence_of(decision),
        "message": decision.message,
        "refused": _refusals(decision.refusals),
        "scores": _scores(decision),
        "best": list(decision.best[:NODES_MAX]) if len(decision.best) > 1 else [],
        "displaces": decision.displaces,
    }
    if decision.nominate is not None:
        facts["nominated"] = decision.nominate
    if decision.preemption is not None:
        facts["preemption"] = preemption_facts(decision.preemption)
    return {name: value for name, value in facts.items() if value or name == "nominated"}


def _refusals(refusals: Mapping[str, Refusal]) -> Any:
    """The reasons by node; for many nodes, only how many there are."""
    if len(refusals) <= NODES_MAX:
        return {node: ", ".join(each.reasons) for node, each in refusals.items()}
    return len(refusals)


def _scores(decision: Decision) -> Any:
    if not decision.scores or len(decision.scores) > NODES_MAX:
        return dict(decision.scores[decision.node]) if decision.scores else {}
    return {node: dict(scores) for node, scores in decision.scores.items()}


def preemption_facts(found: Preemption) -> dict[str, Any]:
    """Whether the pod was eligible, each candidate with its cost, and the one chosen."""
    facts: dict[str, Any] = {"eligible": found.is_eligible, "said": found.said}
    if found.chosen is not None:
        facts["chosen"] = found.chosen.node
    if len(found.tied) > 1:
        facts["tied"] = list(found.tied[:NODES_MAX])
    if len(found.candidates) <= NODES_MAX:
        facts["candidates"] = {node: _candidate(c) for node, c in found.candidates.items()}
    elif found.chosen is not None:
        facts["candidates"] = {found.chosen.node: _candidate(found.chosen)}
        facts["of"] = len(found.candidates)
    return {name: value for name, value in facts.items() if value or name == "eligible"}


def _candidate(candidate: Candidate) -> dict[str, Any]:
    facts: dict[str, Any] = {
        "victims": [pod.key for pod in candidate.victims],
        "violations": candidate.violations,
        "lower": [pod.key for pod in candidate.lower],
        "keys": list(candidate.keys),
    }
    return {name: value for name, value in facts.items() if value}
