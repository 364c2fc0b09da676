"""NodeAffinity: prefers nodes by the preferred node affinity of the pod."""

from __future__ import annotations

import numpy as np

from actors.framework.node_matching import rows_meeting
from actors.framework.podinfo import PodInfo
from actors.framework.snapshot import Column, Snapshot
from actors.scheduler.score import Score, stretched


class NodeAffinityScore(Score):
    """Sums the weights of the preferred terms that the node meets."""

    name = "NodeAffinity"
    weight = 2

    def score_all(self, state: PodInfo, snapshot: Snapshot, rows: Column) -> Column:
        total = np.zeros(len(rows), np.int64)
        affinity = state.pod.spec.affinity
        nodes = affinity.node_affinity if affinity is not None else None
        for term in nodes.preferred if nodes is not None else ():
            total += term.weight * rows_meeting(term.preference, snapshot)[rows]
        return total

    def normalise(self, state: PodInfo, scores: Column) -> Column:
        return stretched(scores)
