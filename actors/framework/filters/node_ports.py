"""NodePorts: no two pods on a node use the same host port."""

from __future__ import annotations

import numpy as np

from actors.framework.cluster_events import NODE_ADDED, NODE_UPDATED, POD_DELETED
from actors.framework.filter import Filter, NodeRefusals, State
from actors.framework.nodeinfo import NodeInfo
from actors.framework.podinfo import PodInfo
from actors.framework.refusal import Refusal
from actors.framework.snapshot import Snapshot


class NodePortsFilter(Filter):
    """Refuses nodes where a host port of the pod is in use."""

    name = "NodePorts"
    wakes = NODE_UPDATED | {NODE_ADDED, POD_DELETED}

    def prepare(self, pod: PodInfo, snapshot: Snapshot) -> State:
        return pod if pod.ports else None

    def check(self, state: State, node: NodeInfo) -> Refusal | None:
        if not any(node.clashes(port) for port in state.ports):
            return None
        return self.no("node(s) didn't have free ports for the requested pod ports")

    def check_all(self, state: State, snapshot: Snapshot) -> NodeRefusals | None:
        codes = np.zeros(len(snapshot), np.int64)
        refusals = {row: self.check(state, snapshot.infos[row]) for row in snapshot.with_ports}
        refused = [(row, refusal) for row, refusal in refusals.items() if refusal is not None]
        if not refused:
            return None
        codes[[row for row, _ in refused]] = 1
        return NodeRefusals(codes, lambda code: refused[0][1])

    def minds(self, state: State, other: PodInfo) -> bool:
        return bool(other.ports)
