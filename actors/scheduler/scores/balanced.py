"""NodeResourcesBalancedAllocation: prefers nodes where cpu and memory are used evenly."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from actors.framework.podinfo import MEMORY, PodInfo
from actors.framework.snapshot import Column, Snapshot
from actors.scheduler.score import BEST, Score
from testbed.objects.quantity import CPU

Parts = NDArray[np.float64]
"""A fraction from 0 to 1 for each of the nodes that are scored."""


class BalancedAllocationScore(Score):
    """Compares the fraction of cpu and of memory that would be requested, in floating point."""

    # Kubernetes computes this score in float64 and truncates it, so exact fractions would give
    # another integer now and then. Floats do no harm to determinism here: each step is one IEEE 754
    # division, difference or product, correctly rounded and so the same on every machine, and
    # nothing is summed up whose order could change. Only the integer leaves this file.

    name = "NodeResourcesBalancedAllocation"

    def score_all(self, state: PodInfo, snapshot: Snapshot, rows: Column) -> Column:
        parts = [_part(name, state, snapshot, rows) for name in (CPU, MEMORY)]
        uneven: Parts = np.abs((parts[0] - parts[1]) / 2)
        uneven[np.isnan(uneven)] = 0
        return ((1 - uneven) * float(BEST)).astype(np.int64)


def _part(name: str, pod: PodInfo, snapshot: Snapshot, rows: Column) -> Parts:
    """The fraction of a resource that would be requested, by node; nan where it has none."""
    has = snapshot.allocatable[name][rows].astype(np.float64)
    own = pod.requests.get(name, 0) + (pod.overhead_amiss if name == CPU else 0)
    asked = (snapshot.requested[name][rows] + own).astype(np.float64)
    parts: Parts = np.full(len(rows), np.nan)
    np.divide(asked, has, out=parts, where=has != 0)
    np.minimum(parts, 1.0, out=parts)
    return parts
