"""Score: a plugin that ranks the feasible nodes for a pod."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from actors.framework.nodeinfo import NodeInfo
from actors.framework.podinfo import PodInfo
from actors.framework.snapshot import Column, Snapshot

State = Any
"""What a score has computed from a pod, once in a cycle."""
BEST = 100
"""The most points a node can have; the least is 0."""


class Score:
    """Gives each feasible node 0 to 100 points for a pod, times its weight.

    A score of your own needs a `name` and a `score`, which looks at a node with its pods. To be
    fast, it has `score_all` instead, which looks at the columns of the Snapshot.
    """

    name: ClassVar[str] = ""
    """Its name in switches and Decisions."""
    weight: ClassVar[int] = 1
    """What its points are multiplied by."""

    def prepare(self, pod: PodInfo, snapshot: Snapshot, rows: Column) -> State:
        """Called once a cycle, before any `score`: the State for all that follows.

        `rows` are the feasible nodes. None: the score has nothing to say of this pod.
        """
        return pod

    def score(self, state: State, node: NodeInfo) -> int:
        """The points of a node, on any scale that `normalise` brings to 0 to 100."""
        raise NotImplementedError(f"{self.name} has no score(pod, node)")

    def score_all(self, state: State, snapshot: Snapshot, rows: Column) -> Column:
        """The points of each of these rows."""
        return np.array([self._whole(state, snapshot.infos[row]) for row in rows], np.int64)

    def _whole(self, state: State, node: NodeInfo) -> int:
        """The points of a node; TypeError if a user's `score` gives no whole number."""
        given = self.score(state, node)
        if not isinstance(given, int | np.integer):
            what = type(given).__name__
            raise TypeError(f"{self.name}.score gave a {what}: expected a whole number")
        return int(given)

    def normalise(self, state: State, scores: Column) -> Column:
        """Bring the points of all rows to 0 to 100."""
        return scores


def stretched(scores: Column) -> Column:
    """Scale the points so that the highest is 100; 0 stays 0."""
    highest = scores.max(initial=0)
    return scores * BEST // highest if highest else scores


def reversed_and_stretched(scores: Column) -> Column:
    """Scale and reverse the points: the highest becomes 0, and 0 becomes 100."""
    return BEST - stretched(scores)
