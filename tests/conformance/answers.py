"""The questions put to each path in a case of preemption, and how answers differ from the
recorded ones."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Protocol

import attrs

from actors.framework.refusal import Refusal
from actors.scheduler.decisions.decision import Candidate, Decision
from tests.conformance.preempt_case import Case

IN_VAIN = "Preemption is not helpful for scheduling"


@attrs.frozen
class Answers:
    """All answers of one path to a case."""

    decision: Decision
    """What it decides."""
    feasible: tuple[str, ...]
    """Every node that would take the pod, its nomination aside."""
    refusals: Mapping[str, Refusal]
    """Why each other node would not."""
    scores: Mapping[str, Mapping[str, int]]
    """Of each feasible node."""
    why_not: str
    """Why the pod may not preempt; empty: it may."""
    candidates: Mapping[str, Candidate]
    """Where room could be made, were it allowed to; nowhere if it is feasible."""
    in_vain: Mapping[str, Refusal]
    """Why not on each other node."""


class Path(Protocol):
    """One way to answer: the scheduler, or the reference."""

    @property
    def name(self) -> str:
        """Its name in differences."""
        ...

    def answers(self, case: Case) -> Answers:
        """Its answers to a case."""
        ...


def differences(answers: Answers, expect: Mapping[str, Any]) -> Iterator[str]:
    """Each answer that differs from the recorded one."""
    ours = told(answers)
    theirs = dict(expect)
    theirs.pop("id")
    if expect["preemption"] is not None:
        theirs |= _chosen(ours["nomination"], expect)
    for name in sorted({*ours, *theirs}):
        if ours.get(name) != theirs.get(name):
            yield f"{name}: expected {theirs.get(name)}, found {ours.get(name)}"


def _chosen(node: str, expect: Mapping[str, Any]) -> dict[str, Any]:
    """What was to be done if of nodes that are as good that one is chosen."""
    if node not in expect["tied_nodes"]:
        return {}
    candidate = expect["candidates"][node]
    return {
        "preemption": {
            "nominated_node": node,
            "victims": candidate["victims"],
            "num_pdb_violations": candidate["pdb_violations"],
        },
        "nomination": node,
        "lower_nominated_cleared": candidate["lower_nominated"],
    }


def told(answers: Answers) -> dict[str, Any]:
    """The answers in the words of the record."""
    decision, preemption = answers.decision, answers.decision.preemption
    pod, chosen = decision.pod, preemption.chosen if preemption else None
    own = pod.status.nominated_node_name
    nomination = {None: "" if decision.node else "keep", "": "clear"}
    said = preemption.said if preemption else ""
    return {
        "feasible_nodes": sorted(answers.feasible),
        "unresolvable": sorted(n for n, r in answers.refusals.items() if not r.is_resolvable),
        "reasons": _reasons(answers.refusals),
        "nominated_fast_path": own if decision.feasible == (own,) else "",
        "schedule_one_best": sorted(decision.best),
        "scores": {
            name: {**points, "total": sum(points.values())}
            for name, points in answers.scores.items()
        },
        "eligible": not answers.why_not,
        "eligible_message": answers.why_not,
        "candidates": {name: _candidate(each) for name, each in answers.candidates.items()},
        "dry_run_reasons": _reasons(
            {name: each for name, each in answers.in_vain.items() if each.reasons != (IN_VAIN,)}
        ),
        "preemption": chosen
        and {
            "nominated_node": chosen.node,
            "victims": [each.meta.name for each in chosen.victims],
            "num_pdb_violations": chosen.violations,
        },
        "tied_nodes": sorted(preemption.tied) if preemption else [],
        "lower_nominated_cleared": [each.meta.name for each in chosen.lower] if chosen else [],
        "nomination": nomination.get(decision.nominate, decision.nominate),
        "post_filter_code": preemption.code if preemption else "",
        "post_filter_message": f"preemption: {said}" if said else "",
        "message": decision.message,
    }


def _reasons(refusals: Mapping[str, Refusal]) -> dict[str, list[str]]:
    return {name: list(each.reasons) for name, each in refusals.items()}


def _candidate(candidate: Candidate) -> dict[str, Any]:
    return {
        "victims": [each.meta.name for each in candidate.victims],
        "pdb_violations": candidate.violations,
        "lower_nominated": [each.meta.name for each in candidate.lower],
    }
