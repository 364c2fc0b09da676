"""PodTopologySpread: pods that match are spread evenly over topology domains."""

from __future__ import annotations

from collections.abc import Sequence

import attrs
import numpy as np

from actors.framework.cluster_events import ANY_POD, NODE_ADDED, NODE_DELETED, NODE_LABELS
from actors.framework.filter import Filter, NodeRefusals, State
from actors.framework.node_matching import Mask, rows_wanted
from actors.framework.nodeinfo import NodeInfo
from actors.framework.podinfo import PodInfo
from actors.framework.refusal import Refusal
from actors.framework.snapshot import Snapshot
from actors.framework.tally import Tally
from testbed.objects.affinity import TopologySpreadConstraint

HONOR = "Honor"
UNEVEN = "node(s) didn't match pod topology spread constraints"
FITS, LACKS_LABEL, TOO_MANY = range(3)


@attrs.frozen(eq=False)
class SpreadCounts:
    """One constraint, and how many pods it counts in each domain."""

    rule: TopologySpreadConstraint
    counts: Tally[str]
    """The number of matching pods, by the value of the topology key."""
    own: int
    """1 if the pod itself matches the constraint, else 0 (`selfMatchNum`)."""

    def too_many(self) -> int:
        """The lowest count at which a domain can no longer take the pod."""
        # A domain is refused if `count + own - least > maxSkew`. `least` is the global minimum over
        # the domains that count: `minDomains` and `matchLabelKeys` were off by default in 1.26.
        # With no domain at all the constraint refuses nothing.
        if not len(self.counts):
            return 2**31
        return self.counts.least + self.rule.max_skew - self.own + 1


@attrs.frozen(eq=False)
class SpreadState:
    """A pod, and the counts of each of its hard constraints."""

    pod: PodInfo
    of: tuple[SpreadCounts, ...]


class PodTopologySpreadFilter(Filter):
    """Refuses nodes where the pod would exceed the `maxSkew` of a hard constraint."""

    name = "PodTopologySpread"
    wakes = ANY_POD | {NODE_ADDED, NODE_DELETED, NODE_LABELS}

    def prepare(self, pod: PodInfo, snapshot: Snapshot) -> State:
        spread = pod.pod.spec.topology_spread
        rules = [rule for rule in spread if rule.when_unsatisfiable == "DoNotSchedule"]
        if not rules:
            return None
        has_all = np.ones(len(snapshot), np.bool_)
        for rule in rules:
            has_all &= snapshot.label(rule.topology_key)[0] >= 0
        return SpreadState(pod, tuple(_spread(rule, pod, snapshot, has_all) for rule in rules))

    def check(self, state: State, node: NodeInfo) -> Refusal | None:
        for spread in state.of:
            value = node.labels.get(spread.rule.topology_key)
            if value is None:
                return self.refusal(LACKS_LABEL)
            if spread.counts[value] >= spread.too_many():
                return self.refusal(TOO_MANY)
        return None

    def check_all(self, state: State, snapshot: Snapshot) -> NodeRefusals | None:
        codes = np.zeros(len(snapshot), np.int64)
        for spread in state.of:
            column, values = snapshot.label(spread.rule.topology_key)
            most = spread.too_many()
            of_value = [TOO_MANY if spread.counts[value] >= most else FITS for value in values]
            now = np.array([*of_value, LACKS_LABEL], np.int64)[column]
            codes = np.where(codes, codes, now)
        return NodeRefusals(codes, self.refusal)

    def refusal(self, code: int) -> Refusal:
        """The Refusal of a code."""
        if code == LACKS_LABEL:
            return self.no(f"{UNEVEN} (missing required label)", is_resolvable=False)
        return self.no(UNEVEN)

    def minds(self, state: State, other: PodInfo) -> bool:
        return bool(other.namespace == state.pod.namespace)

    def added(self, state: State, other: PodInfo, node: NodeInfo) -> State:
        return _moved(state, other, node, 1)

    def removed(self, state: State, other: PodInfo, node: NodeInfo) -> State:
        return _moved(state, other, node, -1)


def _spread(
    rule: TopologySpreadConstraint, pod: PodInfo, snapshot: Snapshot, has_all: Mask
) -> SpreadCounts:
    rows = has_all & _rows_counted(rule, pod, snapshot)
    codes, values = snapshot.label(rule.topology_key)
    counts = {values[code]: 0 for code in np.unique(codes[rows]).tolist()}
    for kind in snapshot.pods_by_kind.kinds:
        if not _counts(rule, pod, kind.example) or kind.example.pod.meta.is_terminating:
            continue
        for name, count in kind.count_on.items():
            row = snapshot.row[name]
            if rows[row]:
                counts[values[codes[row]]] += count
    return SpreadCounts(rule, Tally(counts), int(_matches(rule, pod)))


def _rows_counted(rule: TopologySpreadConstraint, pod: PodInfo, snapshot: Snapshot) -> Mask:
    """`_is_counted` for each row."""
    rows = np.ones(len(snapshot), np.bool_)
    if (rule.node_affinity_policy or HONOR) == HONOR:
        rows &= rows_wanted(pod, snapshot)
    if rule.node_taints_policy == HONOR:
        codes, kinds = snapshot.kinds("taints", lambda node: node.spec.taints)
        rows &= np.array([pod.repelled_by(taints) is None for taints in kinds], np.bool_)[codes]
    return rows


def _is_counted(rule: TopologySpreadConstraint, pod: PodInfo, node: NodeInfo) -> bool:
    """Whether the pods of a node count: by default, where the pod's node affinity allows it."""
    if node.node is None:
        return False
    if (rule.node_affinity_policy or HONOR) == HONOR and not pod.may_be_on(node.node):
        return False
    return rule.node_taints_policy != HONOR or pod.repelled_by(node.node.spec.taints) is None


def _moved(state: SpreadState, other: PodInfo, node: NodeInfo, by: int) -> SpreadState:
    if not all(each.rule.topology_key in node.labels for each in state.of):
        return state
    return SpreadState(
        state.pod, tuple(_with(each, state.pod, other, node, by) for each in state.of)
    )


def _with(
    spread: SpreadCounts, pod: PodInfo, other: PodInfo, node: NodeInfo, by: int
) -> SpreadCounts:
    # A pod that terminates is not counted by `_spread`, yet it is subtracted here when preemption
    # removes it. So the count may be one too low: 1.26 does the same.
    rule = spread.rule
    if not _counts(rule, pod, other) or not _is_counted(rule, pod, node):
        return spread
    here: Sequence[str] = (node.labels[rule.topology_key],)
    return SpreadCounts(rule, spread.counts.plus(here, by), spread.own)


def _counts(rule: TopologySpreadConstraint, pod: PodInfo, other: PodInfo) -> bool:
    """Whether the constraint counts the other pod."""
    return other.namespace == pod.namespace and _matches(rule, other)


def _matches(rule: TopologySpreadConstraint, pod: PodInfo) -> bool:
    return rule.label_selector is not None and rule.label_selector.matches(pod.labels)
