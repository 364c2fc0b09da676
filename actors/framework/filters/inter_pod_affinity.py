"""InterPodAffinity: required affinity and anti-affinity between pods."""

from __future__ import annotations

from collections.abc import Iterable

import attrs
import numpy as np
from numpy.typing import NDArray

from actors.framework.cluster_events import ANY_POD, NODE_ADDED, NODE_LABELS
from actors.framework.filter import Filter, NodeRefusals, State
from actors.framework.nodeinfo import NodeInfo
from actors.framework.podinfo import Namespaces, PodInfo, Term
from actors.framework.refusal import Refusal
from actors.framework.snapshot import Snapshot
from actors.framework.tally import Tally

Pair = tuple[str, str]
"""A topology key and value. Nodes that share the pair are in one topology domain."""
FITS, NOT_NEAR, TOO_NEAR, UNWELCOME = range(4)
REASONS = {
    NOT_NEAR: "node(s) didn't match pod affinity rules",
    TOO_NEAR: "node(s) didn't match pod anti-affinity rules",
    UNWELCOME: "node(s) didn't satisfy existing pods anti-affinity rules",
}


@attrs.frozen(eq=False)
class AffinityCounts:
    """The counts by topology pair that decide where a pod may go (SCH-113)."""

    # These are the three maps that PreFilter builds in Kubernetes: affinityCounts,
    # antiAffinityCounts and existingAntiAffinityCounts. With them a node is checked by looking up
    # its own labels. Without them each check would have to match all pods of the cluster.

    pod: PodInfo
    namespaces: Namespaces
    wanted: Tally[Pair]
    """Pods that match all of its affinity terms, at each pair of such a term."""
    unwanted: Tally[Pair]
    """Pods that match one of its anti-affinity terms, at the pair of that term."""
    unwelcome: Tally[Pair]
    """Anti-affinity terms of other pods that match this pod, at their pairs."""

    def is_matched(self, terms: Iterable[Term], other: PodInfo) -> bool:
        """Whether the other pod matches all of these terms."""
        return all(term.matches(other, self.namespaces) for term in terms)

    def having(self, other: PodInfo, node: NodeInfo, by: int) -> AffinityCounts:
        """The counts with that pod on that node once more (1) or once less (-1) (SCH-116)."""
        wanted, unwanted, unwelcome = self.wanted, self.unwanted, self.unwelcome
        mine, namespaces = self.pod, self.namespaces
        if mine.affinity and self.is_matched(mine.affinity, other):
            wanted = wanted.plus(_pairs(mine.affinity, node), by)
        shunned = [term for term in mine.anti_affinity if term.matches(other, namespaces)]
        unwanted = unwanted.plus(_pairs(shunned, node), by)
        shunning = [term for term in other.anti_affinity if term.matches(mine, namespaces)]
        unwelcome = unwelcome.plus(_pairs(shunning, node), by)
        return AffinityCounts(mine, namespaces, wanted, unwanted, unwelcome)

    @property
    def may_be_first(self) -> bool:
        """Whether no pod anywhere matches its affinity, but it does itself (SCH-114)."""
        # Otherwise the first pod of a group with affinity to itself could never be scheduled.
        return self.wanted.is_none and self.is_matched(self.pod.affinity, self.pod)


class InterPodAffinityFilter(Filter):
    """Refuses nodes where affinity is not met, or anti-affinity of either side is violated."""

    name = "InterPodAffinity"
    wakes = ANY_POD | {NODE_ADDED, NODE_LABELS}

    def prepare(self, pod: PodInfo, snapshot: Snapshot) -> State:
        if not (pod.affinity or pod.anti_affinity or snapshot.anti_affine):
            empty: Tally[Pair] = Tally({})
            return AffinityCounts(pod, snapshot.namespaces, empty, empty, empty)
        return _counted(pod, snapshot)

    def check(self, state: State, node: NodeInfo) -> Refusal | None:
        labels, pod = node.labels, state.pod
        if pod.affinity and not _is_near(state, node):
            return self.refusal(NOT_NEAR)
        for term in pod.anti_affinity:
            key = term.topology_key
            if key in labels and state.unwanted[key, labels[key]] > 0:
                return self.refusal(TOO_NEAR)
        if state.unwelcome and any(state.unwelcome[pair] > 0 for pair in labels.items()):
            return self.refusal(UNWELCOME)
        return None

    def check_all(self, state: State, snapshot: Snapshot) -> NodeRefusals | None:
        pod = state.pod
        if not (pod.affinity or state.unwanted or state.unwelcome):
            return None
        # In the reverse order of `check`: what `check` would find first is written last, and stays.
        codes = np.zeros(len(snapshot), np.int64)
        for key in dict.fromkeys(key for key, _ in state.unwelcome):
            codes[_rows_at(state.unwelcome, key, snapshot)] = UNWELCOME
        for term in pod.anti_affinity:
            codes[_rows_at(state.unwanted, term.topology_key, snapshot)] = TOO_NEAR
        if pod.affinity:
            codes[~_rows_near(state, snapshot)] = NOT_NEAR
        return NodeRefusals(codes, self.refusal)

    def refusal(self, code: int) -> Refusal:
        """The Refusal of a code."""
        return self.no(REASONS[code], is_resolvable=code != NOT_NEAR)

    def minds(self, state: State, other: PodInfo) -> bool:
        return bool(state.pod.affinity or state.pod.anti_affinity or other.anti_affinity)

    def minds_any(self, state: State, snapshot: Snapshot) -> bool:
        return bool(state.pod.affinity or state.pod.anti_affinity or snapshot.anti_affine)

    def added(self, state: State, other: PodInfo, node: NodeInfo) -> State:
        return state.having(other, node, 1)

    def removed(self, state: State, other: PodInfo, node: NodeInfo) -> State:
        return state.having(other, node, -1)


def _counted(pod: PodInfo, snapshot: Snapshot) -> AffinityCounts:
    wanted: dict[Pair, int] = {}
    unwanted: dict[Pair, int] = {}
    unwelcome: dict[Pair, int] = {}
    empty: Tally[Pair] = Tally({})
    counts = AffinityCounts(pod, snapshot.namespaces, empty, empty, empty)
    if pod.affinity or pod.anti_affinity:
        for kind in snapshot.pods_by_kind.kinds:
            if pod.affinity and counts.is_matched(pod.affinity, kind.example):
                _tally(wanted, pod.affinity, kind.count_on, snapshot)
            shunned = [
                term for term in pod.anti_affinity if counts.is_matched((term,), kind.example)
            ]
            _tally(unwanted, shunned, kind.count_on, snapshot)
    for term, kind in snapshot.pods_by_kind.with_terms("anti_affinity"):
        if isinstance(term, Term) and counts.is_matched((term,), pod):
            _tally(unwelcome, (term,), kind.count_on, snapshot)
    return attrs.evolve(
        counts, wanted=Tally(wanted), unwanted=Tally(unwanted), unwelcome=Tally(unwelcome)
    )


def _tally(
    counts: dict[Pair, int], terms: Iterable[Term], on: dict[str, int], snapshot: Snapshot
) -> None:
    for term in terms:
        key = term.topology_key
        for name, count in on.items():
            value = snapshot.infos[snapshot.row[name]].labels.get(key)
            if value is not None:
                counts[key, value] = counts.get((key, value), 0) + count


def _is_near(state: AffinityCounts, node: NodeInfo) -> bool:
    """Whether each term of its affinity is met there, or the pod may be the first of its group."""
    terms, labels = state.pod.affinity, node.labels
    if any(term.topology_key not in labels for term in terms):
        return False
    if all(state.wanted[key, labels[key]] > 0 for key in (term.topology_key for term in terms)):
        return True
    return state.may_be_first


def _rows_near(state: AffinityCounts, snapshot: Snapshot) -> NDArray[np.bool_]:
    """`_is_near` for each row."""
    has_keys = np.ones(len(snapshot), np.bool_)
    is_near = np.ones(len(snapshot), np.bool_)
    for term in state.pod.affinity:
        has_keys &= snapshot.label(term.topology_key)[0] >= 0
        is_near &= _rows_at(state.wanted, term.topology_key, snapshot)
    return has_keys if state.may_be_first else is_near


def _rows_at(counts: Tally[Pair], key: str, snapshot: Snapshot) -> NDArray[np.bool_]:
    """The rows whose value of that label has a count above 0."""
    values = (value for of, value in counts if of == key and counts[of, value] > 0)
    return snapshot.with_label(key, values)


def _pairs(terms: Iterable[Term], node: NodeInfo) -> list[Pair]:
    labels = node.labels
    keys = (term.topology_key for term in terms)
    return [(key, labels[key]) for key in keys if key in labels]
