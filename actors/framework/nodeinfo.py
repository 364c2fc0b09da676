"""NodeInfo: a node, the pods on it, and the sums of what they request."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from actors.framework.podinfo import PODS, HostPort, PodInfo
from testbed.objects import Node, room_of
from testbed.objects.pod import ANYWHERE

NOTHING: Mapping[str, int] = {}


class NodeInfo:
    """A node and the pods on it, with sums that `add` and `remove` keep up to date (SCH-40).

    `node` is None if pods are bound to a node that is deleted or not yet known (SCH-39).
    """

    __slots__ = (
        "allocatable",
        "anti_affine",
        "kept",
        "name",
        "node",
        "pods",
        "ports",
        "requested",
        "scored_cpu",
        "scored_memory",
        "with_terms",
    )

    def __init__(self, name: str, node: Node | None = None) -> None:
        self.name = name
        self._clear()
        self.node: Node | None = None
        self.allocatable = NOTHING
        """What the node has for pods, by resource; scheduling never reduces it (SCH-41)."""
        if node is not None:
            self.set_node(node)

    def _clear(self) -> None:
        self.kept: Any = None
        """What a scheduler has worked out from it as it is; forgotten when it changes."""
        self.pods: list[PodInfo] = []
        """In the order in which they were added, except that `remove` fills gaps from the end."""
        self.requested: dict[str, int] = {}
        """The sum of their requests, by resource."""
        self.scored_cpu = 0
        """The sum of their cpu for scoring; next, of their memory (SCH-40)."""
        self.scored_memory = 0
        self.ports: dict[HostPort, int] = {}
        """How many pods use each host port."""
        self.with_terms = 0
        """How many of them have terms of affinity or anti-affinity."""
        self.anti_affine = 0
        """How many of them have required anti-affinity."""

    def __repr__(self) -> str:
        return f"NodeInfo({self.name}, pods={[info.key for info in self.pods]})"

    @property
    def labels(self) -> Mapping[str, str]:
        """The labels of the node."""
        return self.node.meta.labels if self.node is not None else {}

    def left(self, resource: str) -> int:
        """How much of a resource is not requested yet; of `pods`, how many more fit."""
        taken = len(self.pods) if resource == PODS else self.requested.get(resource, 0)
        return self.allocatable.get(resource, 0) - taken

    def left_of(self, resources: Iterable[str]) -> list[int]:
        """The same for each of some resources."""
        has, taken = self.allocatable.get, self.requested.get
        return [
            has(name, 0) - (len(self.pods) if name == PODS else taken(name, 0))
            for name in resources
        ]

    def set_node(self, node: Node | None) -> None:
        """Set the node as it is now; None if it is deleted."""
        self.node = node
        self.kept = None
        self.allocatable = room_of(node) if node is not None else NOTHING

    def add(self, info: PodInfo) -> None:
        """Add a pod."""
        self.pods.append(info)
        self._count(info, 1)

    def remove(self, info: PodInfo) -> None:
        """Remove a pod; KeyError if it is not there."""
        # As in 1.26, the last pod takes the free place. The order of the pods matters: between
        # victims that are equal otherwise, the first one is spared first (SCH-83). A pod that has
        # changed is removed and added, so it moves to the end and is spared later.
        place, last = self._place(info.uid), self.pods[-1]
        self._count(self.pods[place], -1)
        self.pods[place] = last
        self.pods.pop()

    def replace(self, old: PodInfo, new: PodInfo) -> None:
        """Remove a pod and add it as it is now; KeyError if it is not there."""
        # Most changes are of its status, so the sums stay. Its place is what `remove` and `add`
        # would make it.
        if old.counts_like(new):
            self.kept = None
            place, pods = self._place(old.uid), self.pods
            pods[place] = pods[-1]
            pods[-1] = new
        else:
            self.remove(old)
            self.add(new)

    def copy(self) -> NodeInfo:
        """A copy that can be changed without changing this one."""
        new = object.__new__(NodeInfo)
        new.name, new.node, new.kept = self.name, self.node, None
        new.allocatable = self.allocatable
        new.pods, new.requested = self.pods.copy(), self.requested.copy()
        new.scored_cpu, new.scored_memory = self.scored_cpu, self.scored_memory
        new.ports = self.ports.copy()
        new.with_terms, new.anti_affine = self.with_terms, self.anti_affine
        return new

    def clashes(self, port: HostPort) -> bool:
        """Whether a pod on it already uses that host port."""
        if not self.ports:
            return False
        address, protocol, number = port
        if address != ANYWHERE:
            return port in self.ports or (ANYWHERE, protocol, number) in self.ports
        return any(taken[1:] == (protocol, number) for taken in self.ports)

    def _place(self, uid: str) -> int:
        for place, info in enumerate(self.pods):
            if info.uid == uid:
                return place
        raise KeyError(uid)

    def _count(self, info: PodInfo, sign: int) -> None:
        self.kept = None
        requested = self.requested
        for name, amount in info.requests.items():
            requested[name] = requested.get(name, 0) + sign * amount
        self.scored_cpu += sign * info.scored_cpu
        self.scored_memory += sign * info.scored_memory
        if info.has_terms:
            self.with_terms += sign
            self.anti_affine += sign * bool(info.anti_affinity)
        for port in info.ports:
            self.ports[port] = self.ports.get(port, 0) + sign
            if not self.ports[port]:
                del self.ports[port]
