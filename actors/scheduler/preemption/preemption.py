"""Preemption: makes room for a pod that fits nowhere, at the least cost (SCH-70 to SCH-101)."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import attrs

from actors.framework.refusal import Refusal
from actors.scheduler.cluster.nominator import NOMINATION
from actors.scheduler.decisions.decision import Candidate, Preemption
from actors.scheduler.decisions.messages import counted_reasons, fit_error
from actors.scheduler.placing.feasibility import Feasibility
from actors.scheduler.preemption.budgets import Budgets
from actors.scheduler.preemption.candidate import PLUGIN, Preemptor
from actors.scheduler.preemption.choice import best_of
from actors.scheduler.preemption.dry_run import VictimSelector
from actors.scheduler.preemption.eligibility import why_not_eligible
from actors.scheduler.preemption.importance import outranked_by
from actors.scheduler.preemption.victims import selector_of
from actors.scheduler.switches import SchedulerSwitches
from testbed.objects import Pod, PodDisruptionBudget

SUCCESS, UNSCHEDULABLE, ERROR = "Success", "Unschedulable", "Error"
NO_HELP = "Preemption is not helpful for scheduling"
ENOUGH = 100
"""So many candidates are looked for at least, if there are so many nodes."""
Pick = Callable[[str, Sequence[str]], str]
"""One of these, by its name, for the purpose named first; the dullest stands first."""


@attrs.define
class CandidateSearch:
    """What a search has come upon so far."""

    candidates: dict[str, Candidate] = attrs.field(factory=dict)
    """By node."""
    refusals: dict[str, Refusal] = attrs.field(factory=dict)
    """Why each other node that was looked at is none."""
    errors: dict[str, None] = attrs.field(factory=dict)
    """What went wrong, each thing once."""


def preempt(
    feasibility: Feasibility,
    known: Pod | None,
    budgets: Sequence[PodDisruptionBudget],
    switches: SchedulerSwitches,
    pick: Pick,
    now_ms: int = 0,
    selector: VictimSelector | None = None,
) -> Preemption:
    """Who is to go, and where, for a pod that the filters have refused everywhere.

    `known` is the pod as the informer has it now; None if it is gone (SCH-70).
    """
    if known is None:
        return Preemption(False, f'pod "{feasibility.pod.pod.meta.name}" not found', ERROR)
    why_not = _why_not(feasibility, known, switches)
    if why_not:
        return Preemption(False, why_not, UNSCHEDULABLE)
    selector = selector or selector_of(switches.victim_minimisation, switches.reprieve_order)
    protecting = Budgets(() if switches.pdb_mode == "ignore" else budgets)
    look = Preemptor(feasibility, protecting, switches, selector, now_ms)
    potential = feasibility.potential
    if switches.preempt_offset == "random":
        potential = _turned(potential, feasibility.snapshot.names, pick)
    found = search(look, potential)
    if not found.candidates:
        return _in_vain(found, len(feasibility.snapshot), look.tried)
    return _chosen(found, look.tried, pick)


def search(look: Preemptor, rows: Sequence[int]) -> CandidateSearch:
    """Looks at these nodes in turn, until there are enough candidates (SCH-77)."""
    found, infos, wanted = CandidateSearch(), look.snapshot.infos, enough_of(len(rows))
    harmless = violating = 0
    for row in rows:
        what = look.at(infos[row])
        if not isinstance(what, Candidate):
            _note(found, infos[row].name, what)
            continue
        if not what.violations:
            harmless += 1
        elif violating < wanted:
            violating += 1
        else:
            continue
        found.candidates[what.node] = what
        if harmless and harmless + violating >= wanted:
            break
    return found


def enough_of(nodes: int) -> int:
    """How many candidates are enough, of so many nodes."""
    return min(max(nodes // 10, ENOUGH), nodes)


def _why_not(feasibility: Feasibility, pod: Pod, switches: SchedulerSwitches) -> str:
    node = NOMINATION[switches.nnn_storage](pod)
    return why_not_eligible(
        pod,
        feasibility.snapshot.get(node),
        feasibility.refusals.get(node),
        outranked_by(pod, hostile=switches.hostile),
        switches.eligibility_terminating,
    )


def _turned(rows: list[int], names: Sequence[str], pick: Pick) -> list[int]:
    """The same from another place on, and round."""
    if not rows:
        return rows
    by_name = {names[row]: place for place, row in enumerate(rows)}
    place = by_name[pick("first node to preempt on", list(by_name))]
    return rows[place:] + rows[:place]


def _note(found: CandidateSearch, node: str, what: Refusal | str) -> None:
    if isinstance(what, str):
        found.errors[what] = None
        what = Refusal(PLUGIN, (what,))
    found.refusals[node] = what


def _in_vain(found: CandidateSearch, nodes: int, tried: int) -> Preemption:
    """There is no candidate; what stood in the way, over all nodes."""
    if found.errors:
        errors = list(found.errors)
        said = errors[0] if len(errors) == 1 else f"[{', '.join(errors)}]"
        return Preemption(True, said, ERROR, refusals=found.refusals, tried=tried)
    reasons = counted_reasons(found.refusals.values())
    unhelpful = nodes - len(found.refusals)
    if unhelpful:
        reasons[NO_HELP] = unhelpful
    said = fit_error(nodes, reasons)
    return Preemption(True, said, UNSCHEDULABLE, refusals=found.refusals, tried=tried)


def _chosen(found: CandidateSearch, tried: int, pick: Pick) -> Preemption:
    tied = best_of(found.candidates)
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
