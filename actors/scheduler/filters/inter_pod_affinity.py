"""InterPodAffinity: near which pods a pod must be, and which must not be near each other."""

from __future__ import annotations

from collections.abc import Mapping

import attrs

from actors.scheduler.decision import Refusal
from actors.scheduler.filter import ANY_POD, NODE_ADDED, NODE_LABELS, Filter, State
from actors.scheduler.nodeinfo import NodeInfo
from actors.scheduler.podinfo import Namespaces, PodInfo
from actors.scheduler.snapshot import Snapshot

Pair = tuple[str, str]
"""A label of nodes and one value of it: what is near what."""
Counts = Mapping[Pair, int]


@attrs.frozen(eq=False)
class Near:
    """Where the pods stand that a pod must or must not be near (SCH-113)."""

    pod: PodInfo
    namespaces: Namespaces
    wanted: Counts
    """How many of those that all of its terms mean."""
    unwanted: Counts
    """How many of those that some term of its anti-affinity means."""
    unwelcome: Counts
    """How many terms of others that do not want it there."""

    def having(self, other: PodInfo, node: NodeInfo, by: int) -> Near:
        """The same with one pod more or less on that node (SCH-116)."""
        wanted = _plus(self.wanted, self.seeks(other, node), by)
        unwanted = _plus(self.unwanted, self.shuns(other, node), by)
        unwelcome = _plus(self.unwelcome, self.is_shunned_by(other, node), by)
        if wanted is self.wanted and unwanted is self.unwanted and unwelcome is self.unwelcome:
            return self
        return Near(self.pod, self.namespaces, wanted, unwanted, unwelcome)

    def seeks(self, other: PodInfo, node: NodeInfo) -> list[Pair]:
        """Where that pod on that node is one that the pod must be near."""
        terms = self.pod.affinity
        if not terms or not all(term.matches(other, self.namespaces) for term in terms):
            return []
        return _pairs((term.topology_key for term in terms), node)

    def shuns(self, other: PodInfo, node: NodeInfo) -> list[Pair]:
        """Where it is one that the pod must not be near."""
        return _pairs(
            (
                term.topology_key
                for term in self.pod.anti_affinity
                if term.matches(other, self.namespaces)
            ),
            node,
        )

    def is_shunned_by(self, other: PodInfo, node: NodeInfo) -> list[Pair]:
        """Where it is one that must not be near the pod."""
        return _pairs(
            (
                term.topology_key
                for term in other.anti_affinity
                if term.matches(self.pod, self.namespaces)
            ),
            node,
        )


class InterPodAffinity(Filter):
    """Refuses nodes that are not near the pods they must be near, or near some they must not."""

    name = "InterPodAffinity"
    wakes = ANY_POD | {NODE_ADDED, NODE_LABELS}

    def prepare(self, pod: PodInfo, snapshot: Snapshot) -> State:
        near = Near(pod, snapshot.namespaces, {}, {}, {})
        wanted: dict[Pair, int] = {}
        unwanted: dict[Pair, int] = {}
        unwelcome: dict[Pair, int] = {}
        for node in snapshot.infos:
            if not (pod.affinity or pod.anti_affinity or node.anti_affine):
                continue
            for other in node.pods:
                _tally(wanted, near.seeks(other, node))
                _tally(unwanted, near.shuns(other, node))
                _tally(unwelcome, near.is_shunned_by(other, node))
        return Near(pod, snapshot.namespaces, wanted, unwanted, unwelcome)

    def check(self, state: State, node: NodeInfo) -> Refusal | None:
        if state.pod.affinity and not _is_near(state, node):
            return self.no("node(s) didn't match pod affinity rules", is_resolvable=False)
        labels = node.labels
        if state.unwanted and any(
            (term.topology_key, labels.get(term.topology_key)) in state.unwanted
            for term in state.pod.anti_affinity
        ):
            return self.no("node(s) didn't match pod anti-affinity rules")
        if state.unwelcome and any(pair in state.unwelcome for pair in labels.items()):
            return self.no("node(s) didn't satisfy existing pods anti-affinity rules")
        return None

    def added(self, state: State, other: PodInfo, node: NodeInfo) -> State:
        return state.having(other, node, 1)

    def removed(self, state: State, other: PodInfo, node: NodeInfo) -> State:
        return state.having(other, node, -1)


def _is_near(state: Near, node: NodeInfo) -> bool:
    """Whether each term holds there (SCH-114). If nothing anywhere is meant, the pod itself may
    be the first of those it seeks."""
    terms, labels = state.pod.affinity, node.labels
    if any(term.topology_key not in labels for term in terms):
        return False
    if all((term.topology_key, labels[term.topology_key]) in state.wanted for term in terms):
        return True
    is_first = not state.wanted
    return is_first and all(term.matches(state.pod, state.namespaces) for term in terms)


def _pairs(keys: object, node: NodeInfo) -> list[Pair]:
    labels = node.labels
    return [(key, labels[key]) for key in keys if key in labels]  # type: ignore[attr-defined]


def _tally(counts: dict[Pair, int], pairs: list[Pair]) -> None:
    for pair in pairs:
        counts[pair] = counts.get(pair, 0) + 1


def _plus(counts: Counts, pairs: list[Pair], by: int) -> Counts:
    """With so many more or less of these; what is none is not there."""
    if not pairs:
        return counts
    new = dict(counts)
    for pair in pairs:
        new[pair] = new.get(pair, 0) + by
        if not new[pair]:
            del new[pair]
    return new
