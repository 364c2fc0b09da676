"""NodeUnschedulable: a cordoned node takes only pods that tolerate the cordon."""

from __future__ import annotations

from collections.abc import Hashable

from actors.framework.cluster_events import NODE_ADDED, NODE_TAINTS
from actors.framework.filter import NodeFilter, State
from actors.framework.nodeinfo import NodeInfo
from actors.framework.podinfo import PodInfo
from actors.framework.refusal import Refusal
from actors.framework.snapshot import Snapshot
from testbed.objects import Node, Taint
from testbed.objects.affinity import NO_SCHEDULE, tolerated

CORDON = Taint("node.kubernetes.io/unschedulable", effect=NO_SCHEDULE)


class NodeUnschedulableFilter(NodeFilter):
    """Refuses nodes that are cordoned (`spec.unschedulable`)."""

    name = "NodeUnschedulable"
    wakes = frozenset({NODE_ADDED, NODE_TAINTS})

    def prepare(self, pod: PodInfo, snapshot: Snapshot) -> State:
        return None if tolerated(CORDON, pod.pod.spec.tolerations) else pod

    def kind(self, node: Node) -> Hashable:
        return node.spec.unschedulable

    def check(self, state: State, node: NodeInfo) -> Refusal | None:
        if node.node is not None and not node.node.spec.unschedulable:
            return None
        return self.no("node(s) were unschedulable", is_resolvable=False)
