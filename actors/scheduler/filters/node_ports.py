"""NodePorts: no two pods of one node have the same port of it."""

from __future__ import annotations

from actors.scheduler.decision import Refusal
from actors.scheduler.filter import NODE_ADDED, NODE_UPDATED, POD_DELETED, Filter, State
from actors.scheduler.nodeinfo import NodeInfo
from actors.scheduler.podinfo import PodInfo
from actors.scheduler.snapshot import Snapshot


class NodePorts(Filter):
    """Refuses nodes where a port that the pod asks for is taken."""

    name = "NodePorts"
    wakes = NODE_UPDATED | {NODE_ADDED, POD_DELETED}

    def prepare(self, pod: PodInfo, snapshot: Snapshot) -> State:
        return pod if pod.ports else None

    def check(self, state: State, node: NodeInfo) -> Refusal | None:
        if not any(node.clashes(port) for port in state.ports):
            return None
        return self.no("node(s) didn't have free ports for the requested pod ports")
