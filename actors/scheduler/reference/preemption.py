"""Whether room is made for a pod that no node takes, where, and at whose cost."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from actors.scheduler.decision import Candidate, Preemption, Refusal
from actors.scheduler.reference.cluster import Cluster, Guest
from actors.scheduler.reference.feasibility import nomination_of
from actors.scheduler.reference.messages import unfit
from actors.scheduler.reference.victims import ERROR, candidate_of
from actors.scheduler.switches import Switches
from testbed.objects import Pod
from testbed.objects.condition import find

Pick = Callable[[str, Sequence[str]], str]
NEVER = "not eligible due to preemptionPolicy=Never."
WAITS = "not eligible due to a terminating pod on the nominated node."
IN_VAIN = Refusal("", ("Preemption is not helpful for scheduling",), is_resolvable=False)
FEWEST = 100
"""As many candidates are looked for in any case (SCH-77)."""
BY_PREEMPTION = ("PreemptionByKubeScheduler", "PreemptionByScheduler")


def why_not(pod: Pod, cluster: Cluster, refused: Refusal | None, switches: Switches) -> str:
    """Why it may not preempt now; empty: it may. `refused` is what the filters have said of the
    node that it is nominated to (SCH-71, SCH-72)."""
    if pod.spec.preemption_policy == "Never":
        return NEVER
    place = cluster.places.get(nomination_of(pod, switches))
    if place is None or (refused is not None and not refused.is_resolvable):
        return ""
    for guest in place.guests:
        if guest.pod.priority < pod.priority and is_going(guest.pod, switches):
            return WAITS
    return ""


def is_going(pod: Pod, switches: Switches) -> bool:
    """Whether it is on its way, so that one waits for it (SCH-73)."""
    if not pod.meta.is_terminating:
        return False
    if switches.eligibility_terminating == "any_lower" or not switches.disruption_condition:
        return True
    condition = find(pod.status.conditions, "DisruptionTarget")
    return condition is not None and condition.is_true and condition.reason in BY_PREEMPTION


def dry_run(
    guest: Guest,
    cluster: Cluster,
    refusals: Mapping[str, Refusal],
    switches: Switches,
    pick: Pick,
) -> tuple[dict[str, Candidate], dict[str, Refusal]]:
    """The candidates, and why each other node that was looked at is none.

    Nodes are looked at from an offset on, until there are enough candidates, one of them without a
    broken budget (SCH-77).
    """
    found: dict[str, Candidate] = {}
    others: dict[str, Refusal] = {}
    places = []
    for name, place in cluster.places.items():
        if name in refusals and not refusals[name].is_resolvable:
            others[name] = IN_VAIN
        else:
            places.append(place)
    enough, offset = min(len(places), max(len(places) // 10, FEWEST)), 0
    if switches.preempt_offset == "random" and places:
        offset = int(pick("offset", [str(number) for number in range(len(places))]))
    for place in [*places[offset:], *places[:offset]]:
        sound = sum(not each.violations for each in found.values())
        if sound and len(found) >= enough:
            break
        made = candidate_of(guest, place, cluster, switches)
        if isinstance(made, Refusal):
            others[place.name] = made
        elif not (switches.pdb_mode == "strict" and made.violations):
            found[place.name] = made
    return found, others


def choose(found: Mapping[str, Candidate]) -> tuple[str, ...]:
    """The nodes at which it costs least, by name: those that no key tells apart (SCH-91)."""
    best = min((each.keys for each in found.values()), default=())
    return tuple(sorted(name for name, each in found.items() if each.keys == best))


def preempt(
    guest: Guest,
    cluster: Cluster,
    refusals: Mapping[str, Refusal],
    switches: Switches,
    pick: Pick,
) -> Preemption:
    """What is done for a pod that no node takes."""
    refused = refusals.get(nomination_of(guest.pod, switches))
    said = why_not(guest.pod, cluster, refused, switches)
    if said:
        return Preemption(is_eligible=False, said=said, code="Unschedulable")
    found, others = dry_run(guest, cluster, refusals, switches, pick)
    if not found:
        errors = [each.reasons[0] for each in others.values() if each.filter == ERROR]
        if errors:
            said = errors[0] if len(errors) == 1 else f"[{', '.join(errors)}]"
            return Preemption(is_eligible=True, said=said, code="Error", refusals=others)
        said = unfit(len(others), others)
        return Preemption(is_eligible=True, said=said, code="Unschedulable", refusals=others)
    tied = choose(found)
    chosen = found[pick("candidate", tied) if len(tied) > 1 else tied[0]]
    return Preemption(True, "", "Success", found, others, chosen, tied)
