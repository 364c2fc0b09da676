"""Bounds: how many pods of a Deployment may be surplus, and how many unavailable."""

from __future__ import annotations

from actors.controllers.frame.wanted import part_of, wanted_by
from testbed.objects import Deployment

RECREATE = "Recreate"


def is_rolling(item: Deployment) -> bool:
    """Whether it replaces its pods step by step."""
    return item.spec.strategy.type != RECREATE


def max_surge(item: Deployment) -> int:
    """How many pods more than wanted there may be; shares are rounded up."""
    return _fenceposts(item)[0] if is_rolling(item) else 0


def max_unavailable(item: Deployment) -> int:
    """How many pods less than wanted may be available; shares are rounded down."""
    return min(_fenceposts(item)[1], wanted_by(item)) if is_rolling(item) else 0


def min_available(item: Deployment) -> int:
    """How many pods are available throughout a rollout, as far as the rollout decides."""
    return wanted_by(item) - max_unavailable(item)


def _fenceposts(item: Deployment) -> tuple[int, int]:
    """Both bounds. If both come to nothing, one pod may be unavailable: else nothing could move."""
    rolling = item.spec.strategy.rolling_update
    surge = rolling.max_surge if rolling is not None else None
    unavailable = rolling.max_unavailable if rolling is not None else None
    count = wanted_by(item)
    most = 0 if surge is None else part_of(surge, count)
    least = 0 if unavailable is None else part_of(unavailable, count, rounds_up=False)
    return (most, least) if most or least else (0, 1)
