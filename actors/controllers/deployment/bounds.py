"""Bounds: how many pods of a Deployment may be surplus, and how many unavailable."""

from __future__ import annotations

from actors.controllers.frame.wanted import wanted_by
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
    most, least = _share(surge, count, is_up=True), _share(unavailable, count, is_up=False)
    return (most, least) if most or least else (0, 1)


def _share(bound: int | str | None, count: int, *, is_up: bool) -> int:
    """A bound as a number: itself, or that share of the count."""
    if not isinstance(bound, str):
        return bound or 0
    hundredths = int(bound.removesuffix("%")) * count
    return -(-hundredths // 100) if is_up else hundredths // 100
