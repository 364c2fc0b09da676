"""FirstFitByName: prefers the first node by name."""

from __future__ import annotations

import numpy as np

from actors.framework.podinfo import PodInfo
from actors.framework.snapshot import Column, Snapshot
from actors.scheduler.score import BEST, Score


class FirstFitByNameScore(Score):
    """Gives all points to the first node by name, so that a reader can foresee where pods go."""

    name = "FirstFitByName"

    def score_all(self, state: PodInfo, snapshot: Snapshot, rows: Column) -> Column:
        first = min(range(len(rows)), key=lambda place: snapshot.names[rows[place]])
        scores = np.zeros(len(rows), np.int64)
        scores[first] = BEST
        return scores
