"""Wanted: how many pods the spec of a workload asks for."""

from __future__ import annotations

from testbed.objects import Deployment, ReplicaSet, StatefulSet


def wanted_by(item: Deployment | ReplicaSet | StatefulSet) -> int:
    """How many pods it wants: its `replicas`, and one if it does not say."""
    return 1 if item.spec.replicas is None else item.spec.replicas
