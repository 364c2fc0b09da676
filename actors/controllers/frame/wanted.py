"""Wanted: how many pods a spec asks for, and how many a bound such as `25%` comes to."""

from __future__ import annotations

from testbed.objects import Deployment, ReplicaSet, StatefulSet


def wanted_by(item: Deployment | ReplicaSet | StatefulSet) -> int:
    """How many pods it wants: its `replicas`, and one if it does not say."""
    return 1 if item.spec.replicas is None else item.spec.replicas


def part_of(bound: int | str, total: int, *, rounds_up: bool = True) -> int:
    """How many pods a bound comes to: a number is itself, `25%` that share of the total."""
    if isinstance(bound, int):
        return bound
    hundredths = int(bound.removesuffix("%")) * total
    return -(-hundredths // 100) if rounds_up else hundredths // 100
