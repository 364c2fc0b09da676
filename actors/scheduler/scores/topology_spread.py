"""PodTopologySpread: likes nodes where few pods stand of those that are to be spread."""

from __future__ import annotations

import math

import attrs
import numpy as np

from actors.framework.node_matching import Mask, rows_wanted
from actors.framework.podinfo import PodInfo
from actors.framework.snapshot import Column, Snapshot
from actors.scheduler.score import BEST, Score
from testbed.objects.affinity import TopologySpreadConstraint

HONOR, IGNORE = "Honor", "Ignore"
HOSTNAME = "kubernetes.io/hostname"
"""The label that tells each node from all others: its pods are counted node by node."""


@attrs.frozen(eq=False)
class SpreadTerm:
    """One constraint, and how many pods it finds."""

    max_skew: int
    counts: Column
    """Of each row of the Snapshot: how many there are at its value of the label; if that is the
    hostname, on the node."""
    weight: float
    """What one pod counts: the more, the more values there are to spread over."""


@attrs.frozen(eq=False)
class SpreadTerms:
    """All that a pod would like spread."""

    of: tuple[SpreadTerm, ...]
    ignored: Mask
    """Which of the nodes that are weighed lack one of the labels."""


class PodTopologySpreadScore(Score):
    """By the constraints ScheduleAnyway of the pod; it says nothing of a pod that has none."""

    name = "PodTopologySpread"
    weight = 2

    def prepare(self, pod: PodInfo, snapshot: Snapshot, rows: Column) -> SpreadTerms | None:
        """How the pods stand that it is about."""
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
        """The fewer the better, as yet; of nodes that are ignored, -1."""
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
    standing = _standing(rule, pod, snapshot)
    if rule.topology_key == HOSTNAME:
        return SpreadTerm(rule.max_skew, standing, math.log(len(qualified) + 2))
    codes, values = snapshot.label(rule.topology_key)
    standing[~(has_all & _rows_counted(rule, pod, snapshot))] = 0
    counts = np.bincount(codes[has_all], standing[has_all], len(values)).astype(np.int64)
    sizes = len(np.unique(codes[qualified]))
    return SpreadTerm(rule.max_skew, np.append(counts, 0)[codes], math.log(sizes + 2))


def _standing(rule: TopologySpreadConstraint, pod: PodInfo, snapshot: Snapshot) -> Column:
    """How many pods it means stand on each row; those that are on their way count no more. An empty
    selector means all of them, as it did before 1.27; without one nobody is meant."""
    rows, selector = np.zeros(len(snapshot), np.int64), rule.label_selector
    if selector is None:
        return rows
    for stand in snapshot.standing.kinds:
        like = stand.like
        if like.namespace != pod.namespace or like.pod.meta.is_terminating:
            continue
        if selector.matches(like.labels):
            for name, count in stand.on.items():
                rows[snapshot.row[name]] += count
    return rows


def _rows_counted(rule: TopologySpreadConstraint, pod: PodInfo, snapshot: Snapshot) -> Mask:
    """On which rows pods count: where the pod could not be, they need not."""
    rows = np.ones(len(snapshot), np.bool_)
    if rule.node_affinity_policy != IGNORE:
        rows &= rows_wanted(pod, snapshot)
    if rule.node_taints_policy == HONOR:
        codes, kinds = snapshot.kinds("taints", lambda node: node.spec.taints)
        rows &= np.array([pod.repelled_by(taints) is None for taints in kinds], np.bool_)[codes]
    return rows
