"""Score: what likes one node more than another, among those that will do."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from actors.framework.nodeinfo import NodeInfo
from actors.framework.podinfo import PodInfo
from actors.framework.snapshot import Column, Snapshot

State = Any
"""What a score has worked out of one pod, once for a cycle."""
BEST = 100
"""What a node is given that could not be liked more; the least is 0."""


class Score:
    """Gives each node from 0 to 100 for a pod, and has a weight beside other scores.

    One of your own is ten lines: a `name`, and a `score` that looks at a node and the pods on it.
    One that is to be quick has a `score_all` instead, that looks at the columns of the Snapshot.
    """

    name: ClassVar[str] = ""
    """As a Decision knows it."""
    weight: ClassVar[int] = 1
    """How often it counts."""

    def prepare(self, pod: PodInfo, snapshot: Snapshot, rows: Column) -> State:
        """What it must know of a pod and the nodes it is weighed on, before any `score`; None: it
        has nothing to say of this pod."""
        return pod

    def score(self, state: State, node: NodeInfo) -> int:
        """How much it likes that node, on a scale of its own."""
        raise NotImplementedError(f"{self.name} has no score(pod, node)")

    def score_all(self, state: State, snapshot: Snapshot, rows: Column) -> Column:
        """The same of each of these rows."""
        return np.array([self._whole(state, snapshot.infos[row]) for row in rows], np.int64)

    def _whole(self, state: State, node: NodeInfo) -> int:
        """TypeError if a user's own `score` gives what would have to be rounded."""
        given = self.score(state, node)
        if not isinstance(given, int | np.integer):
            what = type(given).__name__
            raise TypeError(f"{self.name}.score gave a {what}: expected a whole number")
        return int(given)

    def normalise(self, state: State, scores: Column) -> Column:
        """The same from 0 to 100."""
        return scores


def stretched(scores: Column) -> Column:
    """So that the highest is 100 and nothing stays 0."""
    highest = scores.max(initial=0)
    return scores * BEST // highest if highest else scores


def reversed_and_stretched(scores: Column) -> Column:
    """So that the highest is 0 and nothing becomes 100."""
    return BEST - stretched(scores)
