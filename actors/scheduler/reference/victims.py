"""Victims: the pods of lower priority on one node that cannot be reprieved."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from itertools import chain, combinations

import attrs

from actors.framework.refusal import Refusal
from actors.scheduler.decisions.decision import Candidate
from actors.scheduler.reference.budgets import protected
from actors.scheduler.reference.cluster import Cluster, Guest, NodeView
from actors.scheduler.reference.experiments import far_set, spared_set
from actors.scheduler.reference.filters import refusal
from actors.scheduler.reference.importance import (
    by_importance,
    is_foreign,
    may_displace,
    standing,
    started,
)
from actors.scheduler.switches import SchedulerSwitches
from testbed.objects import Pod

Fits = Callable[[Collection[Guest]], bool]
"""Whether the pod fits without these pods."""
PLUGIN = "DefaultPreemption"
NOBODY = "No preemption victims found for incoming pod"
PROTECTED = "node(s) had only victims that a budget protects"


def candidate_of(
    guest: Guest, place: NodeView, cluster: Cluster, switches: SchedulerSwitches
) -> Candidate | Refusal | str:
    """The victims on that node; or why preemption does not help there; or what went wrong.

    1. Take away all less important pods. If the pod does not fit then, preemption does not help
       (SCH-80), unless an experiment finds pods to keep, or victims on other nodes.
    2. Reprieve as many as possible (SCH-85); the others are the victims.
    """
    pool = [each for each in place.guests if may_displace(guest.pod, each.pod, switches)]
    if not pool and not switches.cross_node_victims:
        return Refusal(PLUGIN, (NOBODY,), is_resolvable=False)

    def refused(gone: Iterable[Guest]) -> Refusal | None:
        emptied = cluster.without(gone)
        yields = switches.nominated_accounting != "none"
        return refusal(guest, emptied.places[place.name], emptied, yields=yields)

    def fits(gone: Iterable[Guest]) -> bool:
        return refused(gone) is None

    in_vain = refused(pool)
    if in_vain is not None:
        stay = spared_set(guest, pool, in_vain, cluster, switches, fits)
        go = () if stay else far_set(guest, place, pool, cluster, switches, fits)
        if not stay and not go:
            return in_vain
        pool = [each for each in (*pool, *go) if each not in stay]
    pool = by_importance(pool, guest.pod, cluster, switches)
    budgets = () if switches.pdb_mode == "ignore" else cluster.budgets
    uids = protected(pool, budgets)
    groups = [each for each in pool if each.uid in uids], [e for e in pool if e.uid not in uids]
    if switches.victim_minimisation == "min_count":
        victims = fewest(pool, groups, fits, guest.pod, switches)
    else:
        victims = greedy(groups, fits, ascending=switches.reprieve_order == "asc")
    if not victims:
        return f'expected at least one victim pod on node "{place.name}"'
    violations = sum(each.uid in uids for each in victims)
    if violations and switches.pdb_mode == "strict":
        return Refusal(PLUGIN, (PROTECTED,))
    if not switches.bug_victims_unsorted:
        victims = by_importance(victims, guest.pod, cluster, switches)
    pods = tuple(each.pod for each in victims)
    lower = tuple(each.pod for each in lower_nominated(guest, place, victims, cluster, switches))
    return Candidate(place.name, pods, violations, lower, keys_of(pods, violations, cluster))


Groups = tuple[Sequence[Guest], Sequence[Guest]]
"""The pods that a budget protects, and the others, each with the most important first."""


def greedy(groups: Groups, fits: Fits, *, ascending: bool) -> list[Guest]:
    """Put the pods back one by one, the protected ones first, and keep each with which the pod
    still fits. The others are the victims, in that order (SCH-85)."""
    gone = list(chain(*groups))
    victims = []
    for group in groups:
        for each in reversed(group) if ascending else group:
            left = [other for other in gone if other is not each]
            if fits(left):
                gone = left
            else:
                victims.append(each)
    return victims


def fewest(
    pool: Sequence[Guest], groups: Groups, fits: Fits, pod: Pod, switches: SchedulerSwitches
) -> list[Guest]:
    """Of all sets of victims that suffice, the one with the fewest protected pods, then with the
    fewest pods, then with the least important ones (SCH-86).

    The pool is in order of importance. To a hostile scheduler the priority of a pod of another one
    counts less than any of its own (see `may_displace`).
    """

    def loss(some: Sequence[Guest]) -> tuple[int, int, list[tuple[bool, int, int]], list[int]]:
        order = sorted(some, key=lambda each: rank[each.uid])
        priorities = [
            (not is_foreign(pod, e.pod, switches), *standing(e.pod, switches)) for e in order
        ]
        ranks = [-rank[each.uid] for each in order]
        return sum(each in groups[0] for each in some), len(some), priorities, ranks

    rank = {each.uid: number for number, each in enumerate(pool)}
    tried = list(chain(*groups))
    sets = chain.from_iterable(combinations(tried, size) for size in range(len(tried) + 1))
    return min((list(some) for some in sets if fits(some)), key=loss)


def lower_nominated(
    guest: Guest,
    place: NodeView,
    victims: Sequence[Guest],
    cluster: Cluster,
    switches: SchedulerSwitches,
) -> list[Guest]:
    """The nominated pods of lower priority that lose their nomination to that node (SCH-100); none
    if nominations do not count."""
    if switches.nominated_accounting == "none":
        return []
    lower = [each for each in place.nominated if each.pod.priority < guest.pod.priority]
    if switches.clear_lower == "all":
        return lower
    emptied = cluster.without(victims)
    there = emptied.places[place.name].with_guests([guest])
    above = (each for each in there.nominated if each not in lower and each.uid != guest.uid)
    stay = tuple(above)
    # The more important one is asked first. Who loses its nomination takes no room from the others.
    for each in sorted(lower, key=lambda each: -each.pod.priority):
        then = attrs.evolve(there, nominated=stay)
        if refusal(each, then, emptied.having(then)) is None:
            stay += (each,)
    return [each for each in lower if each not in stay]


def keys_of(victims: Sequence[Pod], violations: int, cluster: Cluster) -> tuple[int, ...]:
    """What candidates are compared by, the smaller the better (SCH-92): the number of budget
    violations; the priority of the first victim; the sum of all priorities; the number of victims;
    and the start time of the oldest among the most important ones, later being better."""
    top = max(each.priority for each in victims)
    eldest = min(started(each, cluster) for each in victims if each.priority == top)
    total = sum(each.priority + 2**31 for each in victims)
    return (violations, victims[0].priority, total, len(victims), -eldest)
