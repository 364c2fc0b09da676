"""SchedulerCache: nodes and their pods as a scheduler believes they are, with assumed pods."""

from __future__ import annotations

from collections.abc import Iterator

import attrs

from actors.framework.nodeinfo import NodeInfo
from actors.framework.podinfo import Namespaces, PodInfo, identity, info_of
from actors.framework.snapshot import Move, Snapshot
from testbed.objects import Node, Pod
from testbed.objects.meta import evolved

REGION, ZONE = "topology.kubernetes.io/region", "topology.kubernetes.io/zone"
OLD_REGION = "failure-domain.beta.kubernetes.io/region"
OLD_ZONE = "failure-domain.beta.kubernetes.io/zone"


class NotCached(Exception):
    """A call does not fit what the cache has, and has changed nothing.

    Kubernetes logs this and goes on.
    """


class CacheCorrupted(Exception):
    """An informer reports a pod on another node than the cache has: Kubernetes exits here."""


@attrs.define(eq=False)
class _Cached:
    """A pod in the cache: assumed until the informer reports it, added from then on (SCH-33)."""

    info: PodInfo
    node: str
    is_assumed: bool
    has_finished: bool = False
    """Whether its binding has ended."""
    due_ms: int | None = None
    """When it expires, unless the informer reports it before."""


class SchedulerCache:
    """All nodes, and all pods that have one: as informers report them, or as assumed.

    A pod is assumed as soon as a node is chosen for it, since its binding runs beside later cycles,
    and these must not give its place away.
    """

    def __init__(self, assume_ttl_ms: int = 0) -> None:
        self.namespaces: Namespaces = {}
        """The labels of namespaces; the handlers of that informer set them."""
        self._ttl_ms = assume_ttl_ms
        self._nodes: dict[str, NodeInfo] = {}
        """All nodes, and ghosts: entries with pods whose node is not there (SCH-39)."""
        self._pods: dict[str, _Cached] = {}
        self._zones: dict[str, dict[str, None]] = {}
        self._snapshot = Snapshot()
        self._changed: dict[str, None] = {}
        """The nodes that have changed since the last Snapshot."""
        self._moves: list[Move] = []
        """The pods that have come or gone since then."""
        self._is_reshaped = False
        """Whether nodes have come, gone or changed zones since then, so that rows move."""

    # -- pods -----------------------------------------------------------------------------------
    def assume(self, pod: Pod, node: str) -> PodInfo:
        """Count a pod on a node from now on; NotCached if it is in the cache (SCH-34)."""
        info = info_of(_bound(pod, node))
        if info.uid in self._pods:
            raise NotCached(f"{info.key} is in the cache already, so it cannot be assumed")
        self._add(info, is_assumed=True)
        return info

    def finish_binding(self, pod: Pod, now_ms: int) -> None:
        """The binding of a pod has ended: it may expire from now on, if `assume_ttl_ms` is set."""
        known = self._pods.get(identity(pod))
        if known is not None and known.is_assumed:
            known.has_finished = True
            known.due_ms = now_ms + self._ttl_ms if self._ttl_ms else None

    def forget(self, pod: Pod, node: str) -> PodInfo:
        """Remove a pod that was assumed on that node; NotCached if it was not (SCH-36)."""
        known = self._pods.get(identity(pod))
        if known is None or not known.is_assumed or known.node != node:
            raise NotCached(f"{pod.key} was not assumed on {node}, so it cannot be forgotten")
        return self._remove(known)

    def expire(self, now_ms: int) -> list[PodInfo]:
        """Remove the assumed pods that have expired, and return them (SCH-35)."""
        expired = [e for e in self._pods.values() if e.due_ms is not None and e.due_ms < now_ms]
        return [self._remove(each) for each in expired]

    def add_pod(self, pod: Pod) -> None:
        """An informer reports a pod with a node for the first time (SCH-37).

        It replaces the assumed pod, also if that was on another node. NotCached if the pod was
        added before.
        """
        known = self._pods.get(identity(pod))
        if known is not None and not known.is_assumed:
            raise NotCached(f"{pod.key} was added already")
        if known is None:
            self._add(info_of(pod), is_assumed=False)
        else:
            self._replace(known, pod)

    def update_pod(self, pod: Pod) -> None:
        """An informer reports a change of a pod. NotCached if it was not added; CacheCorrupted if
        it is on another node than before."""
        known = self._pods.get(identity(pod))
        if known is None or known.is_assumed:
            raise NotCached(f"{pod.key} was not added, so it cannot be updated")
        if known.node != pod.spec.node_name:
            raise CacheCorrupted(_on_two_nodes(pod, known.node))
        self._replace(known, pod)

    def remove_pod(self, pod: Pod) -> None:
        """An informer reports that a pod is deleted, or has ended. NotCached if it is unknown;
        CacheCorrupted if it is on another node than before (SCH-38)."""
        known = self._pods.get(identity(pod))
        if known is None:
            raise NotCached(f"{pod.key} is not in the cache, so it cannot be removed")
        if pod.spec.node_name not in ("", known.node):
            raise CacheCorrupted(_on_two_nodes(pod, known.node))
        self._remove(known)

    def is_assumed(self, pod: Pod) -> bool:
        """Whether a pod is assumed: it counts on a node, and no informer has reported it there."""
        known = self._pods.get(identity(pod))
        return known is not None and known.is_assumed

    def get_pod(self, pod: Pod) -> PodInfo | None:
        """The pod as the cache has it, or None."""
        known = self._pods.get(identity(pod))
        return None if known is None else known.info

    # -- nodes ----------------------------------------------------------------------------------
    def add_node(self, node: Node) -> None:
        """A node has been added, or has changed."""
        name = node.meta.name
        info = self._nodes.setdefault(name, NodeInfo(name))
        zone = None if info.node is None else _zone(info.node)
        info.set_node(node)
        if zone != _zone(node):
            if zone is not None:
                self._leave(name, zone)
            self._zones.setdefault(_zone(node), {})[name] = None
            self._is_reshaped = True
        self._touch(info)

    update_node = add_node

    def remove_node(self, node: Node) -> None:
        """A node is deleted; its pods stay until they are removed (SCH-39). NotCached if the node
        is unknown."""
        info = self._nodes.get(node.meta.name)
        if info is None or info.node is None:
            raise NotCached(f"{node.meta.name} is not in the cache, so it cannot be removed")
        self._leave(info.name, _zone(info.node))
        info.set_node(None)
        self._is_reshaped = True
        self._touch(info)

    @property
    def nodes(self) -> list[NodeInfo]:
        """All nodes as they are now, with ghosts; read only."""
        return list(self._nodes.values())

    def node(self, name: str) -> NodeInfo | None:
        """The node of that name, also a ghost, or None; read only."""
        return self._nodes.get(name)

    # -- snapshot -------------------------------------------------------------------------------
    def snapshot(self) -> Snapshot:
        """The Snapshot, updated by what has changed since the last call (SCH-42)."""
        # Only nodes in `_changed` are copied. Every other row of the Snapshot is still right and is
        # kept (see Snapshot). A new layout rebuilds the PodsByKind from the nodes, so it needs no
        # moves; without one, the pods that have moved are counted one by one.
        snapshot = self._snapshot
        if self._is_reshaped:
            known = snapshot.row
            snapshot.lay_out(
                self._nodes[name].copy()
                if name in self._changed or name not in known
                else snapshot.infos[known[name]]
                for name in self._round_robin()
            )
        else:
            for name in self._changed:
                if name in snapshot.row:
                    snapshot.put(self._nodes[name].copy())
            snapshot.move(self._moves)
        self._changed, self._moves, self._is_reshaped = {}, [], False
        snapshot.namespaces = self.namespaces
        return snapshot

    def _round_robin(self) -> Iterator[str]:
        """The names of the nodes, one of each zone in turn: the nodes that a cycle samples are rows
        in succession, and so they are spread over zones."""
        zones = [list(names) for names in self._zones.values()]
        for turn in range(max(map(len, zones), default=0)):
            for names in zones:
                if turn < len(names):
                    yield names[turn]

    # -- bookkeeping ----------------------------------------------------------------------------
    def _add(self, info: PodInfo, *, is_assumed: bool) -> None:
        node = info.pod.spec.node_name
        self._pods[info.uid] = _Cached(info, node, is_assumed)
        place = self._nodes.setdefault(node, NodeInfo(node))
        place.add(info)
        self._moves.append((info, node, 1))
        self._touch(place)

    def _replace(self, known: _Cached, pod: Pod) -> None:
        info = info_of(pod)
        if known.node != pod.spec.node_name:
            self._remove(known)
            self._add(info, is_assumed=False)
            return
        place, old = self._nodes[known.node], known.info
        known.info, known.is_assumed, known.has_finished, known.due_ms = info, False, False, None
        place.replace(old, info)
        self._moves += ((old, known.node, -1), (info, known.node, 1))
        self._touch(place)

    def _remove(self, known: _Cached) -> PodInfo:
        del self._pods[known.info.uid]
        place = self._nodes[known.node]
        place.remove(known.info)
        self._moves.append((known.info, known.node, -1))
        self._touch(place)
        return known.info

    def _leave(self, name: str, zone: str) -> None:
        del self._zones[zone][name]
        if not self._zones[zone]:
            del self._zones[zone]

    def _touch(self, info: NodeInfo) -> None:
        self._changed[info.name] = None
        if info.node is None and not info.pods:
            del self._nodes[info.name]


def _zone(node: Node) -> str:
    labels = node.meta.labels
    region = labels.get(OLD_REGION, labels.get(REGION, ""))
    return f"{region}\0{labels.get(OLD_ZONE, labels.get(ZONE, ''))}"


def _bound(pod: Pod, node: str) -> Pod:
    return evolved(pod, spec=evolved(pod.spec, node_name=node))


def _on_two_nodes(pod: Pod, node: str) -> str:
    return (
        f"{pod.key} is known on {node}, and is told of on {pod.spec.node_name}.\n"
        "Next: whatever this scheduler decides now may be wrong; let it crash and start again."
    )
