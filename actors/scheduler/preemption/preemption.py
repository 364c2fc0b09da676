"""Preemption: makes room for a pod that fits nowhere, at the least cost (SCH-70 to SCH-101).

1. The pod must be eligible: it may preempt, and is not waiting for victims already. 2. On each node
that eviction can help, a dry run finds the victims; the search stops at enough candidates. 3. The
cheapest candidate is chosen. Nothing is written here: see `writes/make_room.py`.
"""

from __future__ import annotations

from collections.abc import Sequence

import attrs

from actors.framework.refusal import Refusal
from actors.scheduler.cluster.nominator import NOMINATION
from actors.scheduler.decisions.decision import Candidate, Preemption
from actors.scheduler.decisions.messages import counted_reasons, fit_error
from actors.scheduler.decisions.pick import DEFAULT_PREEMPTION, Pick
from actors.scheduler.placing.feasibility import Feasibility
from actors.scheduler.preemption.budgets import Budgets
from actors.scheduler.preemption.candidate import Evaluator
from actors.scheduler.preemption.choice import best_of
from actors.scheduler.preemption.dry_run import VictimSelector
from actors.scheduler.preemption.eligibility import why_not_eligible
from actors.scheduler.preemption.importance import outranked_by
from actors.scheduler.preemption.preemptor import Preemptor
from actors.scheduler.preemption.victims import selector_of
from actors.scheduler.switches import SchedulerSwitches
from testbed.objects import Pod, PodDisruptionBudget

SUCCESS, UNSCHEDULABLE, ERROR = "Success", "Unschedulable", "Error"
NO_HELP = "Preemption is not helpful for scheduling"
ENOUGH = 100
"""The search goes on until there are at least this many candidates, or no more nodes."""


@attrs.define
class CandidateSearch:
    """What a search for candidates has found so far."""

    candidates: dict[str, Candidate] = attrs.field(factory=dict)
    """By node."""
    refusals: dict[str, Refusal] = attrs.field(factory=dict)
    """Why each other node that was evaluated is no candidate."""
    errors: dict[str, None] = attrs.field(factory=dict)
    """The texts of the errors, each once."""


def preempt(
    feasibility: Feasibility,
    known: Pod | None,
    *,
    budgets: Sequence[PodDisruptionBudget],
    switches: SchedulerSwitches,
    pick: Pick,
    now_ms: int = 0,
    selector: VictimSelector | None = None,
    nominated: str = "",
) -> Preemption:
    """Decide which pods must go, and on which node, for a pod that fits nowhere.

    `known` is the pod as the informer has it now; None if it is gone (SCH-70). Without `selector`,
    the switches name the one to use. Where a node is `nominated`, it comes before all others.
    """
    if known is None:
        return Preemption(False, f'pod "{feasibility.pod.pod.meta.name}" not found', ERROR)
    why_not = _why_not(feasibility, known, switches)
    if why_not:
        return Preemption(False, why_not, UNSCHEDULABLE)
    evaluator = Evaluator(
        Preemptor.of(feasibility.pod, switches, now_ms),
        feasibility,
        Budgets(() if switches.pdb_mode == "ignore" else budgets),
        selector or selector_of(switches),
    )
    potential = feasibility.potential
    if switches.preempt_offset == "random":
        potential = _rotated(potential, feasibility.snapshot.names, pick)
    found = search(evaluator, potential)
    if not found.candidates:
        return _no_candidate(found, len(feasibility.snapshot), evaluator.tried)
    return _chosen(found, evaluator.tried, pick, nominated)


def search(evaluator: Evaluator, rows: Sequence[int]) -> CandidateSearch:
    """Evaluate these nodes in turn, until there are enough candidates (SCH-77)."""
    found, infos, wanted = CandidateSearch(), evaluator.snapshot.infos, enough_of(len(rows))
    # As in Kubernetes, the search may stop only once a candidate breaks no budget. So it goes on
    # past any number of violating ones, but of those it keeps no more than it wanted.
    harmless = violating = 0
    for row in rows:
        result = evaluator.candidate_on(infos[row])
        if not isinstance(result, Candidate):
            _note(found, infos[row].name, result)
            continue
        if not result.violations:
            harmless += 1
        elif violating < wanted:
            violating += 1
        else:
            continue
        found.candidates[result.node] = result
        if harmless and harmless + violating >= wanted:
            break
    return found


def enough_of(nodes: int) -> int:
    """How many candidates are enough among that number of nodes."""
    return min(max(nodes // 10, ENOUGH), nodes)


def _why_not(feasibility: Feasibility, pod: Pod, switches: SchedulerSwitches) -> str:
    node = NOMINATION[switches.nnn_storage](pod)
    return why_not_eligible(
        pod,
        feasibility.snapshot.get(node),
        feasibility.refusals.get(node),
        outranked_by(pod, switches),
        switches.eligibility_terminating,
    )


def _rotated(rows: list[int], names: Sequence[str], pick: Pick) -> list[int]:
    """The same rows, but starting from a picked one and wrapping around."""
    if not rows:
        return rows
    by_name = {names[row]: place for place, row in enumerate(rows)}
    place = by_name[pick("first node to preempt on", list(by_name))]
    return rows[place:] + rows[:place]


def _note(found: CandidateSearch, node: str, result: Refusal | str) -> None:
    if isinstance(result, str):
        found.errors[result] = None
        result = Refusal(DEFAULT_PREEMPTION, (result,))
    found.refusals[node] = result


def _no_candidate(found: CandidateSearch, nodes: int, tried: int) -> Preemption:
    """The result if there is no candidate: the errors, or else the reasons of all nodes."""
    if found.errors:
        errors = list(found.errors)
        message = errors[0] if len(errors) == 1 else f"[{', '.join(errors)}]"
        return Preemption(True, message, ERROR, refusals=found.refusals, tried=tried)
    reasons = counted_reasons(found.refusals.values())
    unhelpful = nodes - len(found.refusals)
    if unhelpful:
        reasons[NO_HELP] = unhelpful
    message = fit_error(nodes, reasons)
    return Preemption(True, message, UNSCHEDULABLE, refusals=found.refusals, tried=tried)


def _chosen(found: CandidateSearch, tried: int, pick: Pick, nominated: str) -> Preemption:
    tied = (nominated,) if nominated in found.candidates else best_of(found.candidates)
    node = pick("node to preempt on", tied) if len(tied) > 1 else tied[0]
    return Preemption(
        True,
        code=SUCCESS,
        candidates=found.candidates,
        refusals=found.refusals,
        chosen=found.candidates[node],
        tied=tied,
        tried=tried,
    )
