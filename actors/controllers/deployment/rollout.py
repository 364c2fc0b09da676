"""Rollout: the next step from the old ReplicaSets to the new one.

It goes by what the ReplicaSets say in their status. Their controller counts pods, and writes that a
little later; so a pod that has just been preempted is still counted as available here.
"""

from __future__ import annotations

from collections.abc import Sequence

from actors.controllers.deployment.bounds import is_rolling, max_surge, min_available
from actors.controllers.deployment.revision import by_age
from actors.controllers.deployment.scaling import Resize, active
from actors.controllers.frame.wanted import wanted_by
from testbed.objects import Deployment, ReplicaSet


def first_size(item: Deployment, old: Sequence[ReplicaSet]) -> int:
    """How many pods the new ReplicaSet begins with."""
    return grown(item, 0, old) if is_rolling(item) else wanted_by(item)


def grown(item: Deployment, size: int, sets: Sequence[ReplicaSet]) -> int:
    """What the new ReplicaSet may grow to from that size, so that all of them together have no more
    pods than are wanted, and the surge."""
    room = wanted_by(item) + max_surge(item) - sum(map(wanted_by, sets))
    return size + min(max(room, 0), max(wanted_by(item) - size, 0))


def stepped(item: Deployment, new: ReplicaSet, old: Sequence[ReplicaSet]) -> list[Resize]:
    """The next step: 1. the new one grows, if it may; 2. else the old ones shrink, if they may."""
    size, wanted = wanted_by(new), wanted_by(item)
    goal = wanted if size > wanted else grown(item, size, [new, *old])
    if goal != size:
        return [Resize(new, goal)]
    live = by_age(active(old))
    total = size + sum(map(wanted_by, live))
    # The new pods that are not available yet count as missing, so that a bad template does not
    # bring down the good pods.
    spare = total - min_available(item) - (size - new.status.available_replicas)
    if not live or spare <= 0:
        return []
    sizes = _without_unhealthy(live, spare)
    return _shrunk(item, new, live, sizes)


def _without_unhealthy(old: Sequence[ReplicaSet], spare: int) -> dict[str, int]:
    """The sizes of the old ones without their unavailable pods: to delete these costs nothing."""
    sizes = {}
    for each in old:
        size = wanted_by(each)
        gone = min(spare, max(size - each.status.available_replicas, 0))
        spare -= gone
        sizes[each.key] = size - gone
    return sizes


def _shrunk(
    item: Deployment, new: ReplicaSet, old: Sequence[ReplicaSet], sizes: dict[str, int]
) -> list[Resize]:
    """Take from the old ones as many as are available beyond the bound, from the oldest first."""
    available = sum(each.status.available_replicas for each in (new, *old))
    spare = max(available - min_available(item), 0)
    steps = []
    for each in old:
        gone = min(spare, sizes[each.key])
        spare -= gone
        if sizes[each.key] - gone != wanted_by(each):
            steps.append(Resize(each, sizes[each.key] - gone))
    return steps
