"""PodTopologySpread: likes nodes where few pods stand of those that are to be spread."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import attrs
import numpy as np

from actors.scheduler.nodeinfo import NodeInfo
from actors.scheduler.podinfo import PodInfo
from actors.scheduler.score import BEST, Score
from actors.scheduler.snapshot import Column, Snapshot
from testbed.objects.affinity import TopologySpreadConstraint

HONOR, IGNORE = "Honor", "Ignore"
HOSTNAME = "kubernetes.io/hostname"
"""The label that tells each node from all others: its pods are counted node by node."""


@attrs.frozen(eq=False)
class Spread:
    """One constraint, and how many pods it finds where."""

    rule: TopologySpreadConstraint
    counts: Mapping[str, int]
    """By the value of its label; of the hostname, nothing."""
    weight: float
    """What one pod counts: the more, the more values there are to spread over."""


@attrs.frozen(eq=False)
class Spreads:
    """All that a pod would like spread."""

    pod: PodInfo
    of: tuple[Spread, ...]
    ignored: Column
    """Which of the nodes that are weighed lack one of the labels: 1 or 0."""


class PodTopologySpread(Score):
    """By the constraints ScheduleAnyway of the pod; it says nothing of a pod that has none."""

    name = "PodTopologySpread"
    weight = 2

    def prepare(self, pod: PodInfo, snapshot: Snapshot, rows: Column) -> Spreads | None:
        """How the pods stand that it is about."""
        spread = pod.pod.spec.topology_spread
        rules = [rule for rule in spread if rule.when_unsatisfiable == "ScheduleAnyway"]
        if not rules:
            return None
        nodes = [snapshot.infos[row] for row in rows]
        qualified = [node for node in nodes if _has_labels(node, rules)]
        ignored = np.array([not _has_labels(node, rules) for node in nodes], np.int64)
        spreads = [_spread(rule, rules, pod, snapshot, qualified) for rule in rules]
        return Spreads(pod, tuple(spreads), ignored)

    def score_all(self, state: Spreads, snapshot: Snapshot, rows: Column) -> Column:
        """The fewer the better, as yet; of nodes that are ignored, -1."""
        ignored = state.ignored
        return np.array(
            [
                -1 if ignored[place] else _count(state, snapshot.infos[row])
                for place, row in enumerate(rows)
            ],
            np.int64,
        )

    def normalise(self, state: Spreads, scores: Column) -> Column:
        counted = scores[scores >= 0]
        most = counted.max(initial=0)
        if not most:
            return np.where(state.ignored, 0, BEST)
        return np.where(state.ignored, 0, BEST * (most + counted.min() - scores) // most)


def _has_labels(node: NodeInfo, rules: Sequence[TopologySpreadConstraint]) -> bool:
    return all(rule.topology_key in node.labels for rule in rules)


def _spread(
    rule: TopologySpreadConstraint,
    rules: Sequence[TopologySpreadConstraint],
    pod: PodInfo,
    snapshot: Snapshot,
    qualified: Sequence[NodeInfo],
) -> Spread:
    key = rule.topology_key
    if key == HOSTNAME:
        return Spread(rule, {}, math.log(len(qualified) + 2))
    counts = {node.labels[key]: 0 for node in qualified}
    for node in snapshot.infos:
        if _has_labels(node, rules) and node.labels[key] in counts and _is_counted(rule, pod, node):
            counts[node.labels[key]] += _matching(rule, pod, node)
    return Spread(rule, counts, math.log(len(counts) + 2))


def _count(state: Spreads, node: NodeInfo) -> int:
    total = 0.0
    for spread in state.of:
        if spread.rule.topology_key == HOSTNAME:
            count = _matching(spread.rule, state.pod, node)
        else:
            count = spread.counts[node.labels[spread.rule.topology_key]]
        total += count * spread.weight + (spread.rule.max_skew - 1)
    return math.floor(total + 0.5)


def _is_counted(rule: TopologySpreadConstraint, pod: PodInfo, node: NodeInfo) -> bool:
    """Whether the pods of that node count: where the pod could not be, they need not."""
    if node.node is None:
        return False
    if rule.node_affinity_policy != IGNORE and not pod.may_be_on(node.node):
        return False
    return rule.node_taints_policy != HONOR or not pod.repelled_by(node.node.spec.taints)


def _matching(rule: TopologySpreadConstraint, pod: PodInfo, node: NodeInfo) -> int:
    """How many pods of the node it means; those that are on their way count no more."""
    selector = rule.label_selector
    if selector is None or selector.is_empty:
        return 0
    return sum(
        other.namespace == pod.namespace
        and not other.pod.meta.is_terminating
        and selector.matches(other.labels)
        for other in node.pods
    )
