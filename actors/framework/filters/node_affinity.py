"""NodeAffinity: a pod goes only to nodes that match its node selector and node affinity."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from actors.framework.filter import NodeFilter, NodeRefusals, State
from actors.framework.node_matching import rows_wanted
from actors.framework.nodeinfo import NodeInfo
from actors.framework.podinfo import PodInfo
from actors.framework.refusal import Refusal
from actors.framework.snapshot import Snapshot
from testbed.objects import Pod
from testbed.objects.affinity import NodeSelectorTerm
from testbed.objects.labels import IN

NAME = "metadata.name"


class NodeAffinityFilter(NodeFilter):
    """Refuses nodes that do not match the node selector or the required node affinity."""

    name = "NodeAffinity"

    def prepare(self, pod: PodInfo, snapshot: Snapshot) -> State:
        terms = _terms(pod.pod)
        if terms is None and not pod.pod.spec.node_selector:
            return None
        for names in map(_names, terms or ()):
            if names is None:
                break
            if not names:
                # Kubernetes gives up here, although a node may meet another term.
                return self.no("pod affinity terms conflict", is_resolvable=False)
        return pod

    def only(self, state: State) -> frozenset[str] | None:
        """The nodes that its terms name, if each term names nodes (SCH-53)."""
        every: frozenset[str] = frozenset()
        terms = _terms(state.pod)
        for names in map(_names, terms or ()):
            if names is None:
                return None
            every |= names
        return every if terms else None

    def check(self, state: State, node: NodeInfo) -> Refusal | None:
        if node.node is not None and state.may_be_on(node.node):
            return None
        return self.no("node(s) didn't match Pod's node affinity/selector", is_resolvable=False)

    def check_all(self, state: State, snapshot: Snapshot) -> NodeRefusals | None:
        unwanted = ~rows_wanted(state, snapshot)
        if not unwanted.any():
            return None
        refusal = self.check(state, NodeInfo(""))
        assert refusal is not None
        return NodeRefusals(unwanted.astype(np.int64), lambda code: refusal)


def _terms(pod: Pod) -> Sequence[NodeSelectorTerm] | None:
    affinity = pod.spec.affinity
    nodes = affinity.node_affinity if affinity is not None else None
    required = nodes.required if nodes is not None else None
    return None if required is None else required.node_selector_terms


def _names(term: NodeSelectorTerm) -> frozenset[str] | None:
    """The nodes that a term names; None if it names none, empty if it contradicts itself."""
    names: frozenset[str] | None = None
    for each in term.match_fields:
        if each.key == NAME and each.operator == IN:
            names = frozenset(each.values) if names is None else names & frozenset(each.values)
    return names
