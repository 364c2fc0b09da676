"""LowNodeUtilization: pods of overutilised nodes are to move to underutilised ones.

What counts is what pods request. It evicts until the node is no longer overutilised, or until the
underutilised nodes together have no room left, by its own account: where the pods really go is up
to the scheduler.
"""

from __future__ import annotations

from collections.abc import Iterable

from actors.controllers.descheduler.sight import Evictions, Sight, eviction_order, usage
from actors.framework.nodeinfo import NodeInfo
from actors.framework.podinfo import MEMORY, PODS, info_of
from testbed.objects import Pod
from testbed.objects.quantity import CPU


def low_utilization(sight: Sight) -> Evictions:
    """1. Sort out the underutilised and the overutilised nodes. 2. Go through the latter, the
    fullest first, and evict the least important pods."""
    names = list(dict.fromkeys((CPU, MEMORY, PODS, *sight.policy.target_pct)))
    infos = list(sight.infos.values())
    low = [info for info in infos if _is_low(sight, info)]
    high = [info for info in infos if info not in low and _is_high(sight, info)]
    if not low or not high or len(low) == len(infos):
        return
    room = {
        name: sum(_cap(sight, info, name) - usage(info, names)[name] for info in low)
        for name in names
    }
    for info in sorted(high, key=lambda info: (-sum(usage(info, names).values()), info.name)):
        yield from _relieve(sight, info, low, usage(info, names), room)


def _relieve(
    sight: Sight, info: NodeInfo, low: list[NodeInfo], used: dict[str, int], room: dict[str, int]
) -> Evictions:
    """Evict pods of one node while that is needed and there is room."""
    pods = [pod for pod in sight.pods_on(info.name) if sight.is_evictable(pod)]
    for pod in sorted(pods, key=eviction_order):
        is_high = any(used[name] > _cap(sight, info, name) for name in used)
        if not is_high or min(room.values()) <= 0:
            return
        if not _tolerates_one(pod, low) or not sight.may_evict(pod):
            continue
        was_evicted = yield pod
        if was_evicted:
            for name in room:
                amount = info_of(pod).taken.get(name, 0)
                used[name] -= amount
                room[name] -= amount


def _is_low(sight: Sight, info: NodeInfo) -> bool:
    """Whether all of its resources are below their thresholds, and pods may come."""
    used, low_pct = usage(info, sight.policy.low_pct), sight.policy.low_pct
    is_open = info.node is not None and not info.node.spec.unschedulable
    return is_open and all(_is_within(used, info, name, pct) for name, pct in low_pct.items())


def _is_high(sight: Sight, info: NodeInfo) -> bool:
    """Whether any of its resources is above its target."""
    used, target_pct = usage(info, sight.policy.target_pct), sight.policy.target_pct
    return not all(_is_within(used, info, name, pct) for name, pct in target_pct.items())


def _is_within(used: dict[str, int], info: NodeInfo, name: str, pct: int) -> bool:
    """Whether no more than that percentage of a resource is used. What the node does not have
    counts as unused."""
    has = info.allocatable.get(name, 0)
    return has == 0 or 100 * used[name] <= pct * has


def _cap(sight: Sight, info: NodeInfo, name: str) -> int:
    """How much of a resource may be used before the node is overutilised."""
    return sight.policy.target_pct.get(name, 100) * info.allocatable.get(name, 0) // 100


def _tolerates_one(pod: Pod, nodes: Iterable[NodeInfo]) -> bool:
    info = info_of(pod)
    return any(
        each.node is not None and info.repelled_by(each.node.spec.taints) is None for each in nodes
    )
