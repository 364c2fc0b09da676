"""SchedulerCache: the cluster as a scheduler believes it is, its own last decisions included."""

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
    """What is told of a pod or a node does not fit what is known of it; the cache stays as it is.

    The real one logs it and goes on.
    """


class CacheCorrupted(Exception):
    """A pod that is known on one node is told of on another: the real one ends itself there."""


@attrs.define(eq=False)
class _Cached:
    """A pod that the cache knows: assumed until the server tells of it, added from then on."""

    info: PodInfo
    node: str
    is_assumed: bool
    has_finished: bool = False
    """Whether its binding has come to its end."""
    due_ms: int | None = None
    """When it is given up, if nobody has seen it by then."""


class SchedulerCache:
    """Every pod that has a node, and every node, by what informers tell and what was assumed."""

    def __init__(self, assume_ttl_ms: int = 0) -> None:
        self.namespaces: Namespaces = {}
        """The labels of namespaces; whoever watches them says them here."""
        self._ttl_ms = assume_ttl_ms
        self._nodes: dict[str, NodeInfo] = {}
        """Also the ghosts: those with pods and no node (SCH-39)."""
        self._pods: dict[str, _Cached] = {}
        self._zones: dict[str, dict[str, None]] = {}
        self._snapshot = Snapshot()
        self._changed: dict[str, None] = {}
        """What the Snapshot has not yet seen."""
        self._moves: list[Move] = []
        self._is_reshaped = False
        self._generation = 0

    # -- pods -----------------------------------------------------------------------------------
    def assume(self, pod: Pod, node: str) -> PodInfo:
        """Count that pod on that node from now on; NotCached if it is known already (SCH-34)."""
        info = info_of(_bound(pod, node))
        if info.uid in self._pods:
            raise NotCached(f"{info.key} is in the cache already, so it cannot be assumed")
        self._add(info, is_assumed=True)
        return info

    def finish_binding(self, pod: Pod, now_ms: int) -> None:
        """Its binding has come to an end; from now on it may expire, if there is a limit."""
        known = self._pods.get(identity(pod))
        if known is not None and known.is_assumed:
            known.has_finished = True
            known.due_ms = now_ms + self._ttl_ms if self._ttl_ms else None

    def forget(self, pod: Pod, node: str) -> PodInfo:
        """Take back that it was assumed there; NotCached if it was not (SCH-36)."""
        known = self._pods.get(identity(pod))
        if known is None or not known.is_assumed or known.node != node:
            raise NotCached(f"{pod.key} was not assumed on {node}, so it cannot be forgotten")
        return self._remove(known)

    def expire(self, now_ms: int) -> list[PodInfo]:
        """Give up the assumed pods whose time is over, and say which (SCH-35)."""
        late = [e for e in self._pods.values() if e.due_ms is not None and e.due_ms < now_ms]
        return [self._remove(each) for each in late]

    def add_pod(self, pod: Pod) -> None:
        """A pod that has a node is told of for the first time (SCH-37).

        One that was assumed is that pod from now on, wherever it has gone. NotCached if it was
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
        """It has changed. NotCached if it was never added; CacheCorrupted if it has another node
        than it was added on."""
        known = self._pods.get(identity(pod))
        if known is None or known.is_assumed:
            raise NotCached(f"{pod.key} was not added, so it cannot be updated")
        if known.node != pod.spec.node_name:
            raise CacheCorrupted(_moved(pod, known.node))
        self._replace(known, pod)

    def remove_pod(self, pod: Pod) -> None:
        """It is gone, or over. NotCached if it is unknown; CacheCorrupted if it has another node
        than is known (SCH-38)."""
        known = self._pods.get(identity(pod))
        if known is None:
            raise NotCached(f"{pod.key} is not in the cache, so it cannot be removed")
        if pod.spec.node_name not in ("", known.node):
            raise CacheCorrupted(_moved(pod, known.node))
        self._remove(known)

    def is_assumed(self, pod: Pod) -> bool:
        """Whether it counts on a node where the server has not yet shown it."""
        known = self._pods.get(identity(pod))
        return known is not None and known.is_assumed

    def get_pod(self, pod: Pod) -> PodInfo | None:
        """As the cache has it; None if it has not."""
        known = self._pods.get(identity(pod))
        return None if known is None else known.info

    # -- nodes ----------------------------------------------------------------------------------
    def add_node(self, node: Node) -> None:
        """A node is there, or is there again, or has changed."""
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
        """It is gone; its pods stay as long as nobody says otherwise. NotCached if unknown."""
        info = self._nodes.get(node.meta.name)
        if info is None or info.node is None:
            raise NotCached(f"{node.meta.name} is not in the cache, so it cannot be removed")
        self._leave(info.name, _zone(info.node))
        info.set_node(None)
        self._is_reshaped = True
        self._touch(info)

    @property
    def nodes(self) -> list[NodeInfo]:
        """All of them, ghosts too, as they are now; not to be changed."""
        return list(self._nodes.values())

    def node(self, name: str) -> NodeInfo | None:
        """The one of that name, ghost or not; not to be changed."""
        return self._nodes.get(name)

    # -- snapshot -------------------------------------------------------------------------------
    def snapshot(self) -> Snapshot:
        """The one Snapshot, brought up to date: it costs what has changed since (SCH-42)."""
        snapshot = self._snapshot
        if self._is_reshaped:
            known = snapshot.row
            snapshot.lay_out(
                self._nodes[name].copy()
                if name in self._changed or name not in known
                else snapshot.infos[known[name]]
                for name in self._in_turn()
            )
        else:
            for name in self._changed:
                if name in snapshot.row:
                    snapshot.put(self._nodes[name].copy())
            snapshot.move(self._moves)
        self._changed, self._moves, self._is_reshaped = {}, [], False
        snapshot.namespaces = self.namespaces
        return snapshot

    def _in_turn(self) -> Iterator[str]:
        """One node of each zone in turn, as long as there are some."""
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
        self._pods[info.uid] = _Cached(info, known.node, is_assumed=False)
        self._nodes[known.node].remove(known.info)
        self._nodes[known.node].add(info)
        self._moves += ((known.info, known.node, -1), (info, known.node, 1))
        self._touch(self._nodes[known.node])

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
        self._generation += 1
        info.generation = self._generation
        self._changed[info.name] = None
        if info.node is None and not info.pods:
            del self._nodes[info.name]


def _zone(node: Node) -> str:
    labels = node.meta.labels
    region = labels.get(OLD_REGION, labels.get(REGION, ""))
    return f"{region}\0{labels.get(OLD_ZONE, labels.get(ZONE, ''))}"


def _bound(pod: Pod, node: str) -> Pod:
    return evolved(pod, spec=evolved(pod.spec, node_name=node))


def _moved(pod: Pod, node: str) -> str:
    return (
        f"{pod.key} is known on {node}, and is told of on {pod.spec.node_name}.\n"
        "Next: whatever this scheduler decides now may be wrong; let it crash and start again."
    )
