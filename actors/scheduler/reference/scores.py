"""Scores: how good each feasible node is for a pod, in points from 0 to 100."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence

from actors.scheduler.reference.cluster import Cluster, Guest, NodeView
from actors.scheduler.reference.neighbours import disliked, liked, means, near
from actors.scheduler.reference.spread import SOFT, constraints_of, has_keys, is_included, standing
from actors.scheduler.switches import SchedulerSwitches
from testbed.objects import Pod
from testbed.objects.affinity import PREFER_NO_SCHEDULE, PodAffinityTerm, tolerated
from testbed.objects.node import room_of

BEST = 100
HOSTNAME = "kubernetes.io/hostname"
Points = dict[str, int]
Score = Callable[[Guest, Sequence[NodeView], Cluster, SchedulerSwitches], Points]
"""Gives the points of each of these nodes, by name."""


def node_resources_fit(
    guest: Guest, places: Sequence[NodeView], cluster: Cluster, switches: SchedulerSwitches
) -> Points:
    """How much of cpu and memory would be left, or be used: the average of the two."""

    def points(place: NodeView) -> int:
        parts = []
        for name, has in _compute(place):
            asked = guest.scored[name] - _overlooked(guest.pod, name)
            asked += sum(each.scored[name] for each in place.guests)
            if switches.placement == "most_allocated":
                parts.append(min(asked, has) * BEST // has)
            else:
                parts.append((has - asked) * BEST // has if asked <= has else 0)
        return sum(parts) // len(parts) if parts else 0

    return {place.name: points(place) for place in places}


def balanced_allocation(
    guest: Guest, places: Sequence[NodeView], cluster: Cluster, switches: SchedulerSwitches
) -> Points:
    """How evenly cpu and memory would be used."""

    def points(place: NodeView) -> int:
        parts = []
        for name, has in _compute(place):
            asked = guest.requests.get(name, 0) - _overlooked(guest.pod, name)
            asked += sum(each.requests.get(name, 0) for each in place.guests)
            parts.append(min(asked / has, 1.0))
        deviation = abs((parts[0] - parts[1]) / 2) if len(parts) == 2 else 0.0
        return int((1 - deviation) * BEST)

    return {place.name: points(place) for place in places}


def _overlooked(pod: Pod, resource: str) -> int:
    """How much of its overhead is overlooked, by a fault of 1.26: it counts the whole cpus of the
    overhead as thousandths."""
    overhead = pod.spec.overhead.get(resource)
    if overhead is None or resource != "cpu":
        return 0
    return overhead.milli - overhead.whole


def _compute(place: NodeView) -> list[tuple[str, int]]:
    """How much cpu and memory a node has; without a resource that it has none of."""
    room = room_of(place.node)
    return [(name, room[name]) for name in ("cpu", "memory") if room.get(name)]


def taint_toleration(
    guest: Guest, places: Sequence[NodeView], cluster: Cluster, switches: SchedulerSwitches
) -> Points:
    """The fewer PreferNoSchedule taints it does not tolerate, the better."""
    soft = [t for t in guest.pod.spec.tolerations if t.effect in ("", PREFER_NO_SCHEDULE)]
    counts = {
        place.name: sum(
            taint.effect == PREFER_NO_SCHEDULE and not tolerated(taint, soft)
            for taint in place.node.spec.taints
        )
        for place in places
    }
    return {name: BEST - points for name, points in _scaled(counts).items()}


def node_affinity(
    guest: Guest, places: Sequence[NodeView], cluster: Cluster, switches: SchedulerSwitches
) -> Points:
    """The more its preferred node affinity weighs, the better."""
    affinity = guest.pod.spec.affinity and guest.pod.spec.affinity.node_affinity
    preferred = affinity.preferred if affinity else ()
    return _scaled(
        {
            place.name: sum(
                each.weight
                for each in preferred
                if each.preference.matches(place.name, place.node.meta.labels)
            )
            for place in places
        }
    )


def _scaled(points: Points) -> Points:
    """Scale the points so that the most is 100."""
    most = max(points.values())
    return {name: BEST * each // most if most else 0 for name, each in points.items()}


def inter_pod_affinity(
    guest: Guest, places: Sequence[NodeView], cluster: Cluster, switches: SchedulerSwitches
) -> Points:
    """The more the preferred terms weigh, of the pod and of the pods there, the better; a required
    affinity term of a pod there weighs one."""
    drawn: dict[tuple[str, str], int] = {}

    def pull(term: PodAffinityTerm, owner: Pod, meant: Pod, place: NodeView, weight: int) -> None:
        value = place.node.meta.labels.get(term.topology_key)
        if value is not None and means(term, owner, meant, cluster):
            pair = (term.topology_key, value)
            drawn[pair] = drawn.get(pair, 0) + weight

    pod = guest.pod
    for place in cluster.places.values():
        for other in (each.pod for each in place.guests):
            for owner, meant in ((pod, other), (other, pod)):
                for each in liked(owner):
                    pull(each.pod_affinity_term, owner, meant, place, each.weight)
                for each in disliked(owner):
                    pull(each.pod_affinity_term, owner, meant, place, -each.weight)
            for term in near(other):
                pull(term, other, pod, place, 1)
    points = {
        place.name: sum(drawn.get(pair, 0) for pair in place.node.meta.labels.items())
        for place in places
    }
    least, span = min(points.values()), max(points.values()) - min(points.values())
    return {
        name: int(float(BEST) * ((each - least) / span)) if span else 0
        for name, each in points.items()
    }


def topology_spread(
    guest: Guest, places: Sequence[NodeView], cluster: Cluster, switches: SchedulerSwitches
) -> Points:
    """The fewer matching pods in the node's domains, the better; a key with few domains weighs
    less. Without soft constraints it gives no points."""
    constraints = constraints_of(guest.pod, SOFT)
    if not constraints:
        return {}
    known = [place for place in places if has_keys(place, constraints)]
    points = {place.name: 0.0 for place in known}
    for each in constraints:
        key = each.topology_key
        values = {place.node.meta.labels[key] for place in known}
        size = len(known) if key == HOSTNAME else len(values)
        counts = dict.fromkeys(values, 0)
        for place in cluster.places.values():
            value = place.node.meta.labels.get(key)
            is_seen = has_keys(place, constraints) and is_included(guest.pod, each, place)
            if value in counts and is_seen:
                counts[value] += standing(guest.pod, each, place)
        for place in known:
            here = counts[place.node.meta.labels[key]]
            if key == HOSTNAME:
                here = standing(guest.pod, each, place)
            points[place.name] += here * math.log(size + 2) + (each.max_skew - 1)
    rounded = {name: math.floor(each + 0.5) for name, each in points.items()}
    least, most = min(rounded.values(), default=0), max(rounded.values(), default=0)
    fair = {n: BEST * (most + least - p) // most if most else BEST for n, p in rounded.items()}
    return {place.name: fair.get(place.name, 0) for place in places}


def first_fit_by_name(
    guest: Guest, places: Sequence[NodeView], cluster: Cluster, switches: SchedulerSwitches
) -> Points:
    """All points for the first node by name."""
    first = min(place.name for place in places)
    return {place.name: BEST * (place.name == first) for place in places}


SCORES: Mapping[str, tuple[Score, int]] = {
    "NodeResourcesFit": (node_resources_fit, 1),
    "NodeResourcesBalancedAllocation": (balanced_allocation, 1),
    "TaintToleration": (taint_toleration, 3),
    "NodeAffinity": (node_affinity, 2),
    "InterPodAffinity": (inter_pod_affinity, 2),
    "PodTopologySpread": (topology_spread, 2),
}
"""The scores by name, each with its weight."""
FIRST_FIT: Mapping[str, tuple[Score, int]] = {"FirstFitByName": (first_fit_by_name, 1)}
"""The only score of the placement `first_fit_by_name`."""


def weigh(
    guest: Guest, places: Sequence[NodeView], cluster: Cluster, switches: SchedulerSwitches
) -> dict[str, dict[str, int]]:
    """The points of each node by score, times its weight."""
    weighted: dict[str, dict[str, int]] = {place.name: {} for place in places}
    scores = FIRST_FIT if switches.placement == "first_fit_by_name" else SCORES
    for name, (score, weight) in scores.items():
        for place, points in score(guest, places, cluster, switches).items():
            weighted[place][name] = points * weight
    return weighted


def best_of(scores: Mapping[str, Mapping[str, int]]) -> tuple[str, ...]:
    """The nodes with the most points in total, by name."""
    totals = {name: sum(points.values()) for name, points in scores.items()}
    return tuple(sorted(name for name in totals if totals[name] == max(totals.values())))
