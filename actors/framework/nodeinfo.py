"""NodeInfo: a node, the pods on it, and what they take of it together."""

from __future__ import annotations

from collections.abc import Mapping

from actors.framework.podinfo import PODS, HostPort, PodInfo
from testbed.objects import Node, room_of
from testbed.objects.pod import ANYWHERE

NOTHING: Mapping[str, int] = {}


class NodeInfo:
    """A node and the pods on it, with their sums kept up to date (SCH-40).

    It may have pods and no node: then the node is gone, or not yet heard of (SCH-39).
    """

    __slots__ = (
        "allocatable",
        "anti_affine",
        "generation",
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
        """What it has for pods, by resource; scheduling never makes it less (SCH-41)."""
        self.generation = 0
        """Goes up with each change; only the cache says it."""
        if node is not None:
            self.set_node(node)

    def _clear(self) -> None:
        self.pods: list[PodInfo] = []
        """In the order in which they were added, but for what `remove` does to it."""
        self.requested: dict[str, int] = {}
        """What they ask for together, by resource."""
        self.scored_cpu = 0
        """The same of cpu, with a least for each container; next, of memory."""
        self.scored_memory = 0
        self.ports: dict[HostPort, int] = {}
        """The ports of the node that are taken, and by how many pods."""
        self.with_terms = 0
        """How many of them mind which pods are near them."""
        self.anti_affine = 0
        """How many of them must not be near some pods."""

    def __repr__(self) -> str:
        return f"NodeInfo({self.name}, pods={[info.key for info in self.pods]})"

    @property
    def labels(self) -> Mapping[str, str]:
        """Those of the node."""
        return self.node.meta.labels if self.node is not None else {}

    def left(self, resource: str) -> int:
        """How much of it nobody has asked for; of `pods`, for how many there is room."""
        taken = len(self.pods) if resource == PODS else self.requested.get(resource, 0)
        return self.allocatable.get(resource, 0) - taken

    def set_node(self, node: Node | None) -> None:
        """The node as it is now; None if it is gone."""
        self.node = node
        self.allocatable = room_of(node) if node is not None else NOTHING

    def add(self, info: PodInfo) -> None:
        """One more pod is on it."""
        self.pods.append(info)
        self._count(info, 1)

    def remove(self, info: PodInfo) -> None:
        """That pod is on it no more; KeyError if it was not.

        The last one takes its place, as in 1.26. The order is what tells equal victims apart
        (SCH-83), so one that has changed, which is removed and added, counts for less than others.
        """
        place, last = self._place(info.uid), self.pods[-1]
        self._count(self.pods[place], -1)
        self.pods[place] = last
        self.pods.pop()

    def copy(self) -> NodeInfo:
        """The same, to be changed by itself."""
        new = object.__new__(NodeInfo)
        new.name, new.node = self.name, self.node
        new.allocatable, new.generation = self.allocatable, self.generation
        new.pods, new.requested = self.pods.copy(), self.requested.copy()
        new.scored_cpu, new.scored_memory = self.scored_cpu, self.scored_memory
        new.ports = self.ports.copy()
        new.with_terms, new.anti_affine = self.with_terms, self.anti_affine
        return new

    def clashes(self, port: HostPort) -> bool:
        """Whether some pod has taken that port of it."""
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
