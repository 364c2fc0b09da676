"""NodeResourcesBalancedAllocation: likes nodes of whose cpu and memory equal parts are taken."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from actors.framework.podinfo import MEMORY, PodInfo
from actors.framework.snapshot import Column, Snapshot
from actors.scheduler.score import BEST, Score
from testbed.objects.quantity import CPU

Parts = NDArray[np.float64]
"""A part of 1 for each of the nodes that are weighed."""


class BalancedAllocationScore(Score):
    """By what is asked for, without any least; in the floating point numbers of the real one.

    They decide nothing but by way of the whole number that is left of them, and are the same on
    every machine: each is one division, difference or product of IEEE 754.
    """

    name = "NodeResourcesBalancedAllocation"

    def score_all(self, state: PodInfo, snapshot: Snapshot, rows: Column) -> Column:
        parts = [_part(name, state, snapshot, rows) for name in (CPU, MEMORY)]
        uneven: Parts = np.abs((parts[0] - parts[1]) / 2)
        uneven[np.isnan(uneven)] = 0
        return ((1 - uneven) * float(BEST)).astype(np.int64)


def _part(name: str, pod: PodInfo, snapshot: Snapshot, rows: Column) -> Parts:
    """Which part of a resource would be asked for of each node; nan where it has none."""
    has = snapshot.allocatable[name][rows].astype(np.float64)
    own = pod.requests.get(name, 0) + (pod.overhead_amiss if name == CPU else 0)
    asked = (snapshot.requested[name][rows] + own).astype(np.float64)
    parts: Parts = np.full(len(rows), np.nan)
    np.divide(asked, has, out=parts, where=has != 0)
    np.minimum(parts, 1.0, out=parts)
    return parts
