"""Whom a pod would displace on one node: everybody less important but those who can be spared."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from actors.scheduler.decision import Candidate, Refusal
from actors.scheduler.reference.cluster import Cluster, Guest, Place
from actors.scheduler.reference.filters import refusal
from actors.scheduler.switches import Switches
from testbed.objects import Pod, PodDisruptionBudget
from testbed.objects.pod import BEST_EFFORT, BURSTABLE, GUARANTEED, qos_of

NOBODY = "No preemption victims found for incoming pod"
QUALITIES = (GUARANTEED, BURSTABLE, BEST_EFFORT)
NOW = 2**62
"""When a pod started that does not say it: after every other (SCH-82)."""


def candidate_of(
    guest: Guest, place: Place, cluster: Cluster, switches: Switches
) -> Candidate | Refusal:
    """What it would take to make room on that node, or why that is in vain.

    1. Take away everybody less important. If the pod does not fit then, nothing helps (SCH-80).
    2. Put them back one by one, and keep each with whom it still fits: first those whom a budget
       protects, then the others, each the most important first (SCH-85).
    3. Whoever could not be put back is a victim.
    """
    pool = [each for each in place.guests if each.pod.priority < guest.pod.priority]
    if not pool:
        return Refusal("", (NOBODY,), is_resolvable=False)
    yields = switches.nominated_accounting != "none"

    def refused(spared: Iterable[Guest]) -> Refusal | None:
        uids = {each.uid for each in spared}
        emptied = place.without(each for each in pool if each.uid not in uids)
        return refusal(guest, emptied, cluster.having(emptied), yields=yields)

    never = refused(())
    if never is not None:
        return never
    pool = by_importance(pool, switches)
    protected, others = split(pool, cluster.budgets, switches)
    spared: list[Guest] = []
    victims: list[Guest] = []
    for group in (protected, others):
        for each in group if switches.reprieve_order == "desc" else reversed(group):
            kept = refused([*spared, each]) is None
            (spared if kept else victims).append(each)
    if not victims:
        text = f'expected at least one victim pod on node "{place.name}"'
        return Refusal(ERROR, (text,))
    return candidate(guest, place, victims, protected, switches)


ERROR = "error"
"""What stands for a filter where something has gone wrong."""


def candidate(
    guest: Guest,
    place: Place,
    victims: Sequence[Guest],
    protected: Sequence[Guest],
    switches: Switches,
) -> Candidate:
    """These victims on that node, with all that the choice among nodes looks at."""
    uids = {each.uid for each in protected}
    violations = sum(each.uid in uids for each in victims)
    if not switches.bug_victims_unsorted:
        victims = by_importance(victims, switches)
    pods = tuple(each.pod for each in victims)
    lower = tuple(each.pod for each in place.nominated if each.pod.priority < guest.pod.priority)
    return Candidate(place.name, pods, violations, lower, keys_of(pods, violations))


def by_importance(guests: Iterable[Guest], switches: Switches) -> list[Guest]:
    """The most important first: by priority, then as the switch says; who came first of equals."""
    tiebreak = switches.victim_tiebreak

    def key(guest: Guest) -> tuple[int, ...]:
        quality = QUALITIES.index(guest.pod.status.qos_class or qos_of(guest.pod.spec))
        return (
            -guest.pod.priority,
            quality if "qos" in tiebreak else 0,
            started(guest.pod) if "start" in tiebreak else 0,
        )

    return sorted(guests, key=key)


def started(pod: Pod) -> int:
    """When it was taken on by its kubelet."""
    return NOW if pod.status.start_ms is None else pod.status.start_ms


def split(
    pool: Sequence[Guest], budgets: Sequence[PodDisruptionBudget], switches: Switches
) -> tuple[list[Guest], list[Guest]]:
    """Those whom a budget protects, and the others: each in that order uses up a disruption of
    every budget that covers him, whether he is spared in the end or not (SCH-84)."""
    protected: list[Guest] = []
    others: list[Guest] = []
    left = [budget.status.disruptions_allowed for budget in budgets]
    for guest in pool:
        meta, is_protected = guest.pod.meta, False
        for number, budget in enumerate(budgets):
            is_seen_to = meta.name in budget.status.disrupted_pods
            if meta.labels and budget.covers(meta) and not is_seen_to:
                left[number] -= 1
                is_protected = is_protected or left[number] < 0
        is_protected = is_protected and switches.pdb_mode != "ignore"
        (protected if is_protected else others).append(guest)
    return protected, others


def keys_of(victims: Sequence[Pod], violations: int) -> tuple[int, ...]:
    """What the choice among nodes compares, the smaller the better (SCH-92): how many budgets are
    broken; the first victim's priority; the sum of all of them; how many there are; and, of those
    that are most important, how long the eldest has been there."""
    top = max(each.priority for each in victims)
    eldest = min(started(each) for each in victims if each.priority == top)
    total = sum(each.priority + 2**31 for each in victims)
    return (violations, victims[0].priority, total, len(victims), -eldest)
