"""Simulation: nodes and pods as one pass sees them; what is tried on them can be undone."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

import attrs

from actors.framework.nodeinfo import NodeInfo
from actors.framework.podinfo import Namespaces, PodInfo
from actors.framework.snapshot import Snapshot


@attrs.define
class _Fork:
    """What has changed since a fork."""

    size: int
    """How many nodes there were."""
    before: dict[str, NodeInfo] = attrs.field(factory=dict)
    """The nodes that have changed since, as they were."""


class _Nodes(Mapping[str, NodeInfo]):
    """The nodes of a Snapshot by name; nothing is copied, so it costs nothing."""

    def __init__(self, snapshot: Snapshot) -> None:
        self._snapshot = snapshot

    def __getitem__(self, name: str) -> NodeInfo:
        return self._snapshot.infos[self._snapshot.row[name]]

    def __iter__(self) -> Iterator[str]:
        return iter(self._snapshot.names)

    def __len__(self) -> int:
        return len(self._snapshot)


class Simulation:
    """A Snapshot of nodes, real and imagined ones, on which pods are put.

    `fork` begins a trial; `revert` undoes all that was done since, `commit` keeps it. Forks
    may lie within each other.
    """

    # A NodeInfo is copied before it changes for the first time since a fork, and the original is
    # kept there. Nodes are only ever added behind the others, so undoing that is to drop the last.

    def __init__(self, infos: Iterable[NodeInfo], namespaces: Namespaces | None = None) -> None:
        self.snapshot = Snapshot()
        """What filters look at."""
        self.snapshot.namespaces = namespaces or {}
        self.snapshot.lay_out(infos)
        self.nodes: Mapping[str, NodeInfo] = _Nodes(self.snapshot)
        """Its nodes by name, in order, as they are whenever it is read."""
        self._forks: list[_Fork] = []

    def get(self, name: str) -> NodeInfo | None:
        """The node of that name, or None."""
        return self.snapshot.get(name)

    def fork(self) -> None:
        """Begin a trial."""
        self._forks.append(_Fork(len(self.snapshot)))

    def revert(self) -> None:
        """Undo all since the last fork."""
        fork = self._forks.pop()
        while len(self.snapshot) > fork.size:
            self.snapshot.drop_last()
        for name, before in fork.before.items():
            if name in self.snapshot.row:
                self._restore(before)

    def commit(self) -> None:
        """Keep all since the last fork."""
        fork = self._forks.pop()
        if self._forks:
            outer = self._forks[-1].before
            for name, before in fork.before.items():
                outer.setdefault(name, before)

    def add_node(self, info: NodeInfo) -> None:
        """Add a node with its pods, behind all others."""
        self.snapshot.append(info)

    def add_pod(self, info: PodInfo, node: str) -> None:
        """Put a pod on a node."""
        here = self._own(node)
        here.add(info)
        self.snapshot.put(here)
        self.snapshot.move([(info, node, 1)])

    def remove_pod(self, info: PodInfo, node: str) -> None:
        """Take a pod off a node."""
        here = self._own(node)
        here.remove(info)
        self.snapshot.put(here)
        self.snapshot.move([(info, node, -1)])

    def _own(self, name: str) -> NodeInfo:
        """A NodeInfo that may be changed."""
        info = self.snapshot.infos[self.snapshot.row[name]]
        if not self._forks or name in self._forks[-1].before:
            return info
        self._forks[-1].before[name] = info
        return info.copy()

    def _restore(self, before: NodeInfo) -> None:
        now = self.snapshot.infos[self.snapshot.row[before.name]]
        was, is_now = {p.uid for p in before.pods}, {p.uid for p in now.pods}
        moves = [(p, before.name, -1) for p in now.pods if p.uid not in was]
        moves += [(p, before.name, 1) for p in before.pods if p.uid not in is_now]
        self.snapshot.put(before)
        self.snapshot.move(moves)
