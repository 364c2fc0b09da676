"""NodeName: a pod that names a node goes to no other."""

from __future__ import annotations

from collections.abc import Hashable

from actors.framework.filter import NodeFilter, State
from actors.framework.nodeinfo import NodeInfo
from actors.framework.podinfo import PodInfo
from actors.framework.refusal import Refusal
from actors.framework.snapshot import Snapshot
from testbed.objects import Node


class NodeNameFilter(NodeFilter):
    """Refuses all nodes but the one that the pod names."""

    name = "NodeName"

    def prepare(self, pod: PodInfo, snapshot: Snapshot) -> State:
        return pod.pod.spec.node_name or None

    def kind(self, node: Node) -> Hashable:
        return node.meta.name

    def check(self, state: State, node: NodeInfo) -> Refusal | None:
        if node.name == state:
            return None
        return self.no("node(s) didn't match the requested node name", is_resolvable=False)
