"""Scaling: what becomes of the ReplicaSets when a Deployment is told to have more or fewer pods.

During a rollout it scales them all in proportion. To give all to the new one, or to take all from
the old ones, would hasten the rollout, whatever state the new pods are in.
"""

from __future__ import annotations

from collections.abc import Sequence

import attrs

from actors.controllers.deployment.bounds import is_rolling, max_surge
from actors.controllers.deployment.revision import by_age
from actors.controllers.frame.wanted import wanted_by
from testbed.objects import Deployment, ReplicaSet

DESIRED = "deployment.kubernetes.io/desired-replicas"
MOST = "deployment.kubernetes.io/max-replicas"
"""What the Deployment wanted when the ReplicaSet was last scaled, alone and with its surge."""


@attrs.frozen
class Resize:
    """A ReplicaSet, and how many pods it is to have."""

    item: ReplicaSet
    """The ReplicaSet as it was last heard of."""
    replicas: int
    """How many pods it is to have."""


def active(sets: Sequence[ReplicaSet]) -> list[ReplicaSet]:
    """Those that are to have any pods."""
    return [each for each in sets if wanted_by(each) > 0]


def is_rescaled(item: Deployment, sets: Sequence[ReplicaSet]) -> bool:
    """Whether the Deployment was scaled since its ReplicaSets were."""
    noted = (_number(each, DESIRED) for each in active(sets))
    return any(number is not None and number != wanted_by(item) for number in noted)


def scaled(item: Deployment, new: ReplicaSet | None, old: Sequence[ReplicaSet]) -> list[Resize]:
    """What is to be resized so that the Deployment has the pods that it wants."""
    sets = [*old, *([new] if new is not None else [])]
    live = active(sets)
    if len(live) <= 1:
        only = live[0] if live else new or next(reversed(by_age(old)), None)
        return [] if only is None else [Resize(only, wanted_by(item))]
    if new is not None and _is_saturated(item, new):
        return [Resize(each, 0) for each in by_age(active(old))]
    return _in_proportion(item, live) if is_rolling(item) else []


def _is_saturated(item: Deployment, new: ReplicaSet) -> bool:
    """Whether the new one has all the pods, and they are available."""
    wanted = wanted_by(item)
    return (
        wanted_by(new) == wanted
        and _number(new, DESIRED) == wanted
        and new.status.available_replicas == wanted
    )


def _in_proportion(item: Deployment, sets: Sequence[ReplicaSet]) -> list[Resize]:
    """Each grows or shrinks with the Deployment; the largest takes what rounding leaves. Of equal
    ones the newer grows, and the older shrinks, first."""
    wanted = wanted_by(item)
    allowed = wanted + max_surge(item) if wanted else 0
    gap = allowed - sum(map(wanted_by, sets))
    order = by_age(sets)
    if gap > 0:
        order.reverse()
    order.sort(key=wanted_by, reverse=True)
    added, sizes = 0, []
    for each in order:
        share = _share(each, item, gap, added)
        added += share
        sizes.append(wanted_by(each) + share)
    if gap:
        sizes[0] = max(sizes[0] + gap - added, 0)
    return [Resize(each, size) for each, size in zip(order, sizes, strict=True)]


def _share(each: ReplicaSet, item: Deployment, gap: int, added: int) -> int:
    """How many of the missing pods one of them gets; negative if pods are to go."""
    if not gap or gap == added:
        return 0
    size, wanted = wanted_by(each), wanted_by(item)
    share = -size
    if wanted:
        before = _number(each, MOST) or item.status.replicas or size
        grown = size * (wanted + max_surge(item))
        share = (2 * grown + before) // (2 * before) - size
    return min(share, gap - added) if gap > 0 else max(share, gap - added)


def _number(item: ReplicaSet, annotation: str) -> int | None:
    text = item.meta.annotations.get(annotation, "")
    return int(text) if text.isascii() and text.isdecimal() else None
