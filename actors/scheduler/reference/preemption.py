"""Preemption: which victims are evicted, and where, for a pod without a feasible node."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import attrs

from actors.framework.refusal import Refusal
from actors.scheduler.decisions.decision import Candidate, Preemption
from actors.scheduler.reference.cluster import Cluster, Guest
from actors.scheduler.reference.feasibility import nomination_of
from actors.scheduler.reference.importance import may_displace
from actors.scheduler.reference.messages import unfit
from actors.scheduler.reference.victims import PLUGIN, candidate_of
from actors.scheduler.switches import SchedulerSwitches
from testbed.objects import Pod
from testbed.objects.condition import find

Pick = Callable[[str, Sequence[str]], str]
NEVER = "not eligible due to preemptionPolicy=Never."
WAITS = "not eligible due to a terminating pod on the nominated node."
IN_VAIN = Refusal(PLUGIN, ("Preemption is not helpful for scheduling",), is_resolvable=False)
FEWEST = 100
"""The least number of candidates to look for (SCH-77)."""
BY_PREEMPTION = ("PreemptionByKubeScheduler", "PreemptionByScheduler")


def why_not(
    pod: Pod, cluster: Cluster, refused: Refusal | None, switches: SchedulerSwitches
) -> str:
    """Why a pod is not eligible to preempt now; empty: it is. `refused` is the Refusal of the node
    that it is nominated to (SCH-71, SCH-72)."""
    if pod.spec.preemption_policy == "Never":
        return NEVER
    place = cluster.places.get(nomination_of(pod, switches))
    if place is None or (refused is not None and not refused.is_resolvable):
        return ""
    for guest in place.guests:
        if may_displace(pod, guest.pod, switches) and is_going(guest.pod, switches):
            return WAITS
    return ""


def is_going(pod: Pod, switches: SchedulerSwitches) -> bool:
    """Whether a victim is terminating, so that a nominated pod waits for it (SCH-73)."""
    if not pod.meta.is_terminating:
        return False
    if switches.eligibility_terminating == "any_lower":
        return True
    condition = find(pod.status.conditions, "DisruptionTarget")
    return condition is not None and condition.is_true and condition.reason in BY_PREEMPTION


@attrs.define
class FoundCandidates:
    """The results of a search for candidates."""

    candidates: dict[str, Candidate] = attrs.field(factory=dict)
    refusals: dict[str, Refusal] = attrs.field(factory=dict)
    """Why each other node that was looked at is no candidate."""
    errors: dict[str, None] = attrs.field(factory=dict)
    """What went wrong, each error once."""


def dry_run(
    guest: Guest,
    cluster: Cluster,
    refusals: Mapping[str, Refusal],
    switches: SchedulerSwitches,
    pick: Pick,
) -> FoundCandidates:
    """Look for candidates on every node where preemption may help, from an offset on, until there
    are enough and one of them violates no budget (SCH-76 to SCH-78).

    Of candidates that violate budgets, it keeps no more than are enough.
    """
    found = FoundCandidates()
    names = []
    for name in cluster.places:
        if name in refusals and not refusals[name].is_resolvable:
            found.refusals[name] = IN_VAIN
        else:
            names.append(name)
    if switches.preempt_offset == "random" and names:
        offset = names.index(pick("first node to preempt on", names))
        names = [*names[offset:], *names[:offset]]
    enough = min(len(names), max(len(names) // 10, FEWEST))
    for name in names:
        broken = sum(each.violations > 0 for each in found.candidates.values())
        if broken < len(found.candidates) >= enough:
            break
        made = candidate_of(guest, cluster.places[name], cluster, switches)
        if isinstance(made, str):
            found.errors[made] = None
            found.refusals[name] = Refusal(PLUGIN, (made,))
        elif isinstance(made, Refusal):
            found.refusals[name] = made
        elif not made.violations or broken < enough:
            found.candidates[name] = made
    return found


def choose(found: Mapping[str, Candidate]) -> tuple[str, ...]:
    """The candidates that cost least, by name: those that no key tells apart (SCH-91)."""
    best = min(each.keys for each in found.values())
    return tuple(sorted(name for name, each in found.items() if each.keys == best))


def stays(
    guest: Guest, cluster: Cluster, found: Mapping[str, Candidate], switches: SchedulerSwitches
) -> tuple[str, ...]:
    """The candidate that the pod is nominated to, if that comes before what it costs."""
    if switches.nominate == "after_victims":
        return ()
    places = (cluster.places[name] for name in found)
    return tuple(p.name for p in places if guest.uid in [each.uid for each in p.nominated])


def preempt(
    guest: Guest,
    cluster: Cluster,
    refusals: Mapping[str, Refusal],
    switches: SchedulerSwitches,
    pick: Pick,
) -> Preemption:
    """Preemption for a pod that has no feasible node."""
    refused = refusals.get(nomination_of(guest.pod, switches))
    said = why_not(guest.pod, cluster, refused, switches)
    if said:
        return Preemption(is_eligible=False, said=said, code="Unschedulable")
    found = dry_run(guest, cluster, refusals, switches, pick)
    candidates, others, errors = found.candidates, found.refusals, list(found.errors)
    if not candidates and errors:
        said = errors[0] if len(errors) == 1 else f"[{', '.join(errors)}]"
        return Preemption(True, said, "Error", refusals=others)
    if not candidates:
        return Preemption(True, unfit(len(others), others), "Unschedulable", refusals=others)
    tied = stays(guest, cluster, candidates, switches) or choose(candidates)
    chosen = candidates[pick("node to preempt on", tied) if len(tied) > 1 else tied[0]]
    return Preemption(True, "", "Success", candidates, others, chosen, tied)
