"""NodeAffinity: a pod goes only to nodes that are as its selector and its affinity want them."""

from __future__ import annotations

from actors.scheduler.decision import Refusal
from actors.scheduler.filter import NODE_ADDED, NODE_UPDATED, Filter, State
from actors.scheduler.nodeinfo import NodeInfo
from actors.scheduler.podinfo import PodInfo
from actors.scheduler.snapshot import Snapshot
from testbed.objects import Pod
from testbed.objects.affinity import NodeSelectorTerm
from testbed.objects.labels import IN

NAME = "metadata.name"


class NodeAffinity(Filter):
    """Refuses nodes that a pod does not want by their labels or their names."""

    name = "NodeAffinity"
    wakes = NODE_UPDATED | {NODE_ADDED}
    minds_pods = False

    def prepare(self, pod: PodInfo, snapshot: Snapshot) -> State:
        terms = _terms(pod.pod)
        if terms is None and not pod.pod.spec.node_selector:
            return None
        if terms and any(_names(term) == frozenset() for term in terms):
            # One that can be met nowhere speaks for all, though another might be met.
            before = terms[: next(n for n, term in enumerate(terms) if _names(term) == frozenset())]
            if all(_names(term) is not None for term in before):
                return self.no("pod affinity terms conflict", is_resolvable=False)
        return pod

    def only(self, state: State) -> frozenset[str] | None:
        """The nodes it names, if each of its terms names some (SCH-53)."""
        names = [_names(term) for term in _terms(state.pod) or ()]
        if not names or any(each is None for each in names):
            return None
        return frozenset(name for each in names if each is not None for name in each)

    def check(self, state: State, node: NodeInfo) -> Refusal | None:
        if node.node is not None and state.may_be_on(node.node):
            return None
        return self.no("node(s) didn't match Pod's node affinity/selector", is_resolvable=False)


def _terms(pod: Pod) -> tuple[NodeSelectorTerm, ...] | None:
    affinity = pod.spec.affinity
    nodes = affinity.node_affinity if affinity is not None else None
    return nodes.required.node_selector_terms if nodes is not None and nodes.required else None


def _names(term: NodeSelectorTerm) -> frozenset[str] | None:
    """The nodes that a term names; None if it names none, empty if what it says conflicts."""
    names: frozenset[str] | None = None
    for each in term.match_fields:
        if each.key == NAME and each.operator == IN:
            names = frozenset(each.values) if names is None else names & frozenset(each.values)
    return names
