"""RemovePodsViolating…: pods that their node would not take today.

Required node affinity, NoSchedule taints, and required anti-affinity between pods hold when a pod
is scheduled, and not later. Here they hold later, too.
"""

from __future__ import annotations

from collections.abc import Mapping

from actors.controllers.descheduler.sight import Evictions, Sight, eviction_order
from actors.framework.podinfo import PodInfo, info_of
from testbed.objects import Node, Pod
from testbed.objects.affinity import NO_SCHEDULE, tolerated


def violations(sight: Sight) -> Evictions:
    """First those of node affinity, then of taints, then of anti-affinity."""
    evicted: dict[str, None] = {}
    for finding in (_misplaced(sight), _tainted(sight)):
        for pod in finding:
            if pod.meta.uid not in evicted and (yield pod):
                evicted[pod.meta.uid] = None
    yield from _too_near(sight, evicted)


def _misplaced(sight: Sight) -> list[Pod]:
    """The pods that their required node affinity or node selector no longer allows on their node,
    if any node would take them."""
    return [
        pod
        for node in sight.nodes
        for pod in sight.pods_on(node.meta.name)
        if _requires_nodes(pod)
        and not pod.spec.may_be_on(node.meta.name, node.meta.labels)
        and sight.may_evict(pod)
        and sight.fits_anywhere(pod)
    ]


def _requires_nodes(pod: Pod) -> bool:
    affinity = pod.spec.affinity
    nodes = None if affinity is None else affinity.node_affinity
    return nodes is not None and nodes.required is not None


def _tainted(sight: Sight) -> list[Pod]:
    """The pods that do not tolerate a NoSchedule taint of their node."""
    return [
        pod
        for node in sight.nodes
        for pod in sight.pods_on(node.meta.name)
        if sight.may_evict(pod)
        and not all(
            tolerated(taint, pod.spec.tolerations)
            for taint in node.spec.taints
            if taint.effect == NO_SCHEDULE
        )
    ]


def _too_near(sight: Sight, evicted: Mapping[str, None]) -> Evictions:
    """The pods near others that they must not be near, the least important first. Those that are
    evicted no longer count, so of two such pods one stays."""
    nodes = {node.meta.name: node for node in sight.nodes}
    left = {
        info.uid: info
        for name in nodes
        for info in map(info_of, sight.pods_on(name))
        if info.uid not in evicted
    }
    for name in nodes:
        pods = [pod for pod in sight.pods_on(name) if pod.meta.uid in left]
        for pod in sorted(pods, key=eviction_order):
            if sight.may_evict(pod) and _is_near(left[pod.meta.uid], left, nodes):
                was_evicted = yield pod
                if was_evicted:
                    del left[pod.meta.uid]


def _is_near(pod: PodInfo, others: Mapping[str, PodInfo], nodes: Mapping[str, Node]) -> bool:
    return any(
        term.matches(other, {})
        and _are_together(
            nodes[pod.pod.spec.node_name], nodes[other.pod.spec.node_name], term.topology_key
        )
        for term in pod.anti_affinity
        for other in others.values()
        if other.uid != pod.uid
    )


def _are_together(one: Node, other: Node, key: str) -> bool:
    """Whether two nodes are in one topology domain; a node is so with itself."""
    if one.meta.name == other.meta.name:
        return True
    value = one.meta.labels.get(key)
    return value is not None and value == other.meta.labels.get(key)
