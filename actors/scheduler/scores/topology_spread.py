"""PodTopologySpread: prefers nodes in topology domains with few matching pods."""

from __future__ import annotations

import math

import attrs
import numpy as np

from actors.framework.node_matching import Mask, rows_wanted
from actors.framework.podinfo import PodInfo
from actors.framework.snapshot import Column, Snapshot
from actors.scheduler.score import BEST, Score
from testbed.objects.affinity import TopologySpreadConstraint
from testbed.objects.node import HOSTNAME

HONOR, IGNORE = "Honor", "Ignore"


@attrs.frozen(eq=False)
class SpreadTerm:
    """One soft constraint, and how many pods it counts in each domain."""

    max_skew: int
    counts: Column
    """For each row of the Snapshot, the number of matching pods in its domain."""
    weight: float
    """What one pod counts: the more domains there are, the more."""


@attrs.frozen(eq=False)
class SpreadTerms:
    """All soft constraints of a pod."""

    of: tuple[SpreadTerm, ...]
    ignored: Mask
    """Which of the nodes that are scored lack one of the topology keys."""


class PodTopologySpreadScore(Score):
    """Sums the matching pods over the ScheduleAnyway constraints of the pod; fewer are better."""

    name = "PodTopologySpread"
    weight = 2

    def prepare(self, pod: PodInfo, snapshot: Snapshot, rows: Column) -> SpreadTerms | None:
        """The counts of each constraint."""
        spread = pod.pod.spec.topology_spread
        rules = [rule for rule in spread if rule.when_unsatisfiable == "ScheduleAnyway"]
        if not rules:
            return None
        has_all = np.ones(len(snapshot), np.bool_)
        for rule in rules:
            has_all &= snapshot.label(rule.topology_key)[0] >= 0
        spreads = [_spread(rule, pod, snapshot, has_all, rows[has_all[rows]]) for rule in rules]
        return SpreadTerms(tuple(spreads), ~has_all[rows])

    def score_all(self, state: SpreadTerms, snapshot: Snapshot, rows: Column) -> Column:
        """The weighted number of matching pods, not yet reversed; -1 for ignored nodes."""
        # The weight is a logarithm, so this is a float, rounded half up as Go's math.Round does for
        # positive numbers; np.round would round half to even. The order of the constraints is that
        # of the pod, so the sum is the same in every Run.
        total = np.zeros(len(rows), np.float64)
        for spread in state.of:
            total += spread.counts[rows] * spread.weight + (spread.max_skew - 1)
        return np.where(state.ignored, -1, np.floor(total + 0.5)).astype(np.int64)

    def normalise(self, state: SpreadTerms, scores: Column) -> Column:
        counted = scores[~state.ignored]
        most, least = int(counted.max(initial=0)), int(counted.min(initial=2**62))
        liked = BEST * (most + least - scores) // most if most else np.full_like(scores, BEST)
        return np.where(state.ignored, 0, liked)


def _spread(
    rule: TopologySpreadConstraint,
    pod: PodInfo,
    snapshot: Snapshot,
    has_all: Mask,
    qualified: Column,
) -> SpreadTerm:
    matching = _matching(rule, pod, snapshot)
    if rule.topology_key == HOSTNAME:
        return SpreadTerm(rule.max_skew, matching, math.log(len(qualified) + 2))
    codes, values = snapshot.label(rule.topology_key)
    matching[~(has_all & _rows_counted(rule, pod, snapshot))] = 0
    counts = np.bincount(codes[has_all], matching[has_all], len(values)).astype(np.int64)
    sizes = len(np.unique(codes[qualified]))
    return SpreadTerm(rule.max_skew, np.append(counts, 0)[codes], math.log(sizes + 2))


def _matching(rule: TopologySpreadConstraint, pod: PodInfo, snapshot: Snapshot) -> Column:
    """The number of matching pods on each row, without terminating ones. An empty selector matches
    all pods, as it did before 1.27; no selector matches none."""
    rows, selector = np.zeros(len(snapshot), np.int64), rule.label_selector
    if selector is None:
        return rows
    for kind in snapshot.pods_by_kind.kinds:
        example = kind.example
        if example.namespace != pod.namespace or example.pod.meta.is_terminating:
            continue
        if selector.matches(example.labels):
            for name, count in kind.count_on.items():
                rows[snapshot.row[name]] += count
    return rows


def _rows_counted(rule: TopologySpreadConstraint, pod: PodInfo, snapshot: Snapshot) -> Mask:
    """The rows where pods count: by default, those that the pod's node affinity allows."""
    rows = np.ones(len(snapshot), np.bool_)
    if rule.node_affinity_policy != IGNORE:
        rows &= rows_wanted(pod, snapshot)
    if rule.node_taints_policy == HONOR:
        codes, kinds = snapshot.kinds("taints", lambda node: node.spec.taints)
        rows &= np.array([pod.repelled_by(taints) is None for taints in kinds], np.bool_)[codes]
    return rows
