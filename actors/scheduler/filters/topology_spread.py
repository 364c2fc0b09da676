"""PodTopologySpread: pods of one kind stand evenly over the values of a label of their nodes."""

from __future__ import annotations

from collections.abc import Mapping

import attrs

from actors.scheduler.decision import Refusal
from actors.scheduler.filter import (
    ANY_POD,
    NODE_ADDED,
    NODE_DELETED,
    NODE_LABELS,
    Filter,
    State,
)
from actors.scheduler.nodeinfo import NodeInfo
from actors.scheduler.podinfo import PodInfo
from actors.scheduler.snapshot import Snapshot
from testbed.objects.affinity import TopologySpreadConstraint

HONOR = "Honor"
MANY = 2**31 - 1
"""The fewest of none: where nothing is counted, nothing is uneven."""


@attrs.frozen(eq=False)
class Spread:
    """How the pods of one constraint stand now."""

    rule: TopologySpreadConstraint
    counts: Mapping[str, int]
    """How many there are at each value of its label."""
    own: int
    """Whether the pod itself is one of them: 1 or 0."""

    @property
    def least(self) -> int:
        """The fewest there are anywhere; 0 if there are too few values (minDomains)."""
        if not self.counts:
            return MANY
        if len(self.counts) < (self.rule.min_domains or 1):
            return 0
        return min(self.counts.values())


@attrs.frozen(eq=False)
class Spreads:
    """A pod and how all that it wants spread stands."""

    pod: PodInfo
    of: tuple[Spread, ...]


class PodTopologySpread(Filter):
    """Refuses nodes where a pod would make its kind stand too unevenly."""

    name = "PodTopologySpread"
    wakes = ANY_POD | {NODE_ADDED, NODE_DELETED, NODE_LABELS}

    def prepare(self, pod: PodInfo, snapshot: Snapshot) -> State:
        rules = [
            rule
            for rule in pod.pod.spec.topology_spread
            if rule.when_unsatisfiable == "DoNotSchedule"
        ]
        if not rules:
            return None
        counts: list[dict[str, int]] = [{} for _ in rules]
        for node in snapshot.infos:
            if not all(rule.topology_key in node.labels for rule in rules):
                continue
            for rule, count in zip(rules, counts, strict=True):
                if _is_counted(rule, pod, node):
                    value = node.labels[rule.topology_key]
                    count[value] = count.get(value, 0) + _matching(rule, pod, node)
        return Spreads(
            pod,
            tuple(
                Spread(rule, count, int(_matches(rule, pod)))
                for rule, count in zip(rules, counts, strict=True)
            ),
        )

    def check(self, state: State, node: NodeInfo) -> Refusal | None:
        for spread in state.of:
            value = node.labels.get(spread.rule.topology_key)
            if value is None:
                return self.no(f"{UNEVEN} (missing required label)", is_resolvable=False)
            skew = spread.counts.get(value, 0) + spread.own - spread.least
            if skew > spread.rule.max_skew:
                return self.no(UNEVEN)
        return None

    def added(self, state: State, other: PodInfo, node: NodeInfo) -> State:
        return _moved(state, other, node, 1)

    def removed(self, state: State, other: PodInfo, node: NodeInfo) -> State:
        return _moved(state, other, node, -1)


UNEVEN = "node(s) didn't match pod topology spread constraints"


def _moved(state: Spreads, other: PodInfo, node: NodeInfo, by: int) -> Spreads:
    if other.namespace != state.pod.namespace:
        return state
    if not all(each.rule.topology_key in node.labels for each in state.of):
        return state
    return Spreads(state.pod, tuple(_with(each, state.pod, other, node, by) for each in state.of))


def _with(spread: Spread, pod: PodInfo, other: PodInfo, node: NodeInfo, by: int) -> Spread:
    rule = spread.rule
    if not _matches(rule, other) or not _is_counted(rule, pod, node):
        return spread
    value = node.labels[rule.topology_key]
    counts = {**spread.counts, value: spread.counts.get(value, 0) + by}
    return Spread(rule, counts, spread.own)


def _is_counted(rule: TopologySpreadConstraint, pod: PodInfo, node: NodeInfo) -> bool:
    """Whether the pods of that node count: where the pod could not be, they need not."""
    if node.node is None:
        return False
    if (rule.node_affinity_policy or HONOR) == HONOR and not pod.may_be_on(node.node):
        return False
    return rule.node_taints_policy != HONOR or not pod.repelled_by(node.node.spec.taints)


def _matching(rule: TopologySpreadConstraint, pod: PodInfo, node: NodeInfo) -> int:
    """How many pods of the node it means; those that are on their way count no more."""
    return sum(
        other.namespace == pod.namespace
        and not other.pod.meta.is_terminating
        and _matches(rule, other)
        for other in node.pods
    )


def _matches(rule: TopologySpreadConstraint, pod: PodInfo) -> bool:
    return rule.label_selector is not None and rule.label_selector.matches(pod.labels)
