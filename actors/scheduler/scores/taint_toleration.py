"""TaintToleration: prefers nodes with few PreferNoSchedule taints."""

from __future__ import annotations

import numpy as np

from actors.framework.podinfo import PodInfo
from actors.framework.snapshot import Column, Snapshot
from actors.scheduler.score import Score, reversed_and_stretched
from testbed.objects import Node, Taint
from testbed.objects.affinity import PREFER_NO_SCHEDULE, tolerated


class TaintTolerationScore(Score):
    """Counts the PreferNoSchedule taints that the pod does not tolerate; fewer are better."""

    name = "TaintToleration"
    weight = 3

    def score_all(self, state: PodInfo, snapshot: Snapshot, rows: Column) -> Column:
        codes, kinds = snapshot.kinds("PreferNoSchedule", discouraging)
        tolerations = [
            each for each in state.pod.spec.tolerations if each.effect in ("", PREFER_NO_SCHEDULE)
        ]
        counts = [sum(not tolerated(taint, tolerations) for taint in kind) for kind in kinds]
        return np.array([*counts, 0], np.int64)[codes[rows]]

    def normalise(self, state: PodInfo, scores: Column) -> Column:
        return reversed_and_stretched(scores)


def discouraging(node: Node) -> tuple[Taint, ...] | None:
    """The PreferNoSchedule taints of a node; None if it has none."""
    return tuple(each for each in node.spec.taints if each.effect == PREFER_NO_SCHEDULE) or None
