"""NodeUnschedulable: a cordoned node takes no pod but those that put up with that."""

from __future__ import annotations

from actors.scheduler.decision import Refusal
from actors.scheduler.filter import NODE_ADDED, NODE_TAINTS, Filter, State
from actors.scheduler.nodeinfo import NodeInfo
from actors.scheduler.podinfo import PodInfo
from actors.scheduler.snapshot import Snapshot
from testbed.objects import Taint
from testbed.objects.affinity import NO_SCHEDULE, tolerated

CORDON = Taint("node.kubernetes.io/unschedulable", effect=NO_SCHEDULE)


class NodeUnschedulable(Filter):
    """Refuses nodes that are cordoned."""

    name = "NodeUnschedulable"
    wakes = frozenset({NODE_ADDED, NODE_TAINTS})
    minds_pods = False

    def prepare(self, pod: PodInfo, snapshot: Snapshot) -> State:
        return None if tolerated(CORDON, pod.pod.spec.tolerations) else pod

    def check(self, state: State, node: NodeInfo) -> Refusal | None:
        if node.node is not None and not node.node.spec.unschedulable:
            return None
        return self.no("node(s) were unschedulable", is_resolvable=False)
