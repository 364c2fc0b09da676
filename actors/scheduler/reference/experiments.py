"""Two experiments, off by default: pods that must stay, and victims on other nodes."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from itertools import combinations

from actors.framework.refusal import Refusal
from actors.scheduler.reference.cluster import Cluster, Guest, NodeView
from actors.scheduler.reference.importance import by_importance, may_displace
from actors.scheduler.reference.neighbours import apart, means, near
from actors.scheduler.reference.spread import is_meant
from actors.scheduler.switches import SchedulerSwitches
from testbed.objects import Pod

Fits = Callable[[Collection[Guest]], bool]
"""Whether the pod fits without these pods."""
SETS_MAX = 10_000
"""At most this many sets of pods on other nodes are tried."""


def spared_set(
    guest: Guest,
    pool: Sequence[Guest],
    in_vain: Refusal,
    cluster: Cluster,
    switches: SchedulerSwitches,
    fits: Fits,
) -> tuple[Guest, ...]:
    """The smallest set of pods to keep, so that the pod fits by its required affinity (SCH-105).

    Empty unless `in_vain`, the Refusal of the node without the whole pool, is that of affinity.
    """
    if in_vain.filter != "InterPodAffinity" or in_vain.is_resolvable:
        return ()
    pod = guest.pod
    wanted = [
        each
        for each in by_importance(pool, pod, cluster, switches)
        if any(means(term, pod, each.pod, cluster) for term in near(pod))
    ]
    for size in range(1, switches.affinity_to_victims + 1):
        for some in combinations(wanted, size):
            if fits([each for each in pool if each not in some]):
                return some
    return ()


def far_set(
    guest: Guest,
    place: NodeView,
    pool: Sequence[Guest],
    cluster: Cluster,
    switches: SchedulerSwitches,
    fits: Fits,
) -> tuple[Guest, ...]:
    """The smallest set of pods on other nodes that must go as well (SCH-106).

    Of two sets of one size it takes the less important pods.
    """
    found = [
        each
        for node, each in cluster.guests()
        if node.meta.name != place.name
        and may_displace(guest.pod, each.pod, switches)
        and _stands_in_the_way(guest.pod, each, place, cluster)
    ]
    pods = by_importance(found, guest.pod, cluster, switches)[::-1]
    tried = 0
    for size in range(1, switches.cross_node_victims + 1):
        for some in combinations(pods, size):
            nodes = {each.pod.spec.node_name for each in some}
            if len(nodes) <= switches.cross_node_nodes and tried < SETS_MAX:
                tried += 1
                if fits([*pool, *some]):
                    return tuple(each for each in found if each in some)
    return ()


def _stands_in_the_way(pod: Pod, other: Guest, place: NodeView, cluster: Cluster) -> bool:
    """Whether the other pod shares a topology domain with the node that matters to both pods."""
    there = cluster.places[other.pod.spec.node_name].node.meta.labels
    here = place.node.meta.labels
    return any(
        key in here and here[key] == there.get(key) for key in _concerns(pod, other.pod, cluster)
    )


def _concerns(pod: Pod, other: Pod, cluster: Cluster) -> Iterator[str]:
    """The topology keys by which one pod must be apart from the other, or is spread with it."""
    for one, two in ((pod, other), (other, pod)):
        for term in apart(one):
            if means(term, one, two, cluster):
                yield term.topology_key
    for constraint in pod.spec.topology_spread:
        if pod.meta.namespace == other.meta.namespace and is_meant(constraint, other):
            yield constraint.topology_key
