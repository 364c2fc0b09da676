"""NodeResourcesFit: prefers nodes by how much of their cpu and memory is requested (SCH-62)."""

from __future__ import annotations

import numpy as np

from actors.framework.podinfo import MEMORY, PodInfo
from actors.framework.snapshot import Column, Snapshot
from actors.scheduler.score import BEST, Score
from testbed.objects.quantity import CPU


class NodeResourcesFitScore(Score):
    """The average over cpu and memory; a container without a request counts a default amount.

    A resource that a node has none of does not count there.
    """

    name = "NodeResourcesFit"

    def __init__(self, *, likes_full: bool = False) -> None:
        """`likes_full`: prefer full nodes (MostAllocated) to empty ones (LeastAllocated)."""
        self._likes_full = likes_full

    def score_all(self, state: PodInfo, snapshot: Snapshot, rows: Column) -> Column:
        total, counted = np.zeros((2, len(rows)), np.int64)
        own_cpu = state.scored_cpu + state.overhead_amiss
        for name, own in ((CPU, own_cpu), (MEMORY, state.scored_memory)):
            has = snapshot.allocatable[name][rows]
            asked = np.minimum(snapshot.scored[name][rows] + own, has)
            liked = asked if self._likes_full else has - asked
            total += liked * BEST // np.maximum(has, 1)
            counted += has > 0
        return total // np.maximum(counted, 1)
