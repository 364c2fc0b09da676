"""Nominator: which pods have had room made for them, and on which node."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from actors.framework.cluster_events import NOMINATED
from actors.framework.podinfo import PodInfo, identity, info_of
from testbed.objects import Pod


def in_status(pod: Pod) -> str:
    """The node a pod is nominated to, as its status says it."""
    return pod.status.nominated_node_name


def in_annotation(pod: Pod) -> str:
    """The same, as an annotation says it."""
    return pod.meta.annotations.get(NOMINATED, "")


NOMINATION = {"status": in_status, "annotation": in_annotation}
"""How a nomination is read, by where it is written (the switch nnn_storage)."""


class Nominator:
    """Each pod on one node at most, and on each node in the order in which they came (SCH-45).

    Memory is ahead of what the server says for as long as the scheduler's own patch is on its way.
    It holds pods wherever they wait, and while they are tried. That their node goes does not
    concern it: what to make of that is for the next cycle of the pod (SCH-49).
    """

    def __init__(
        self,
        pod_of: Callable[[str], Pod | None],
        nomination: Callable[[Pod], str] = in_status,
    ) -> None:
        """`pod_of` is what the informer knows of a pod now, by its key."""
        self._pod_of = pod_of
        self.said = nomination
        """Where a pod is nominated to by its own word."""
        self.nominated: dict[str, Sequence[PodInfo]] = {}
        """All of them by node, on each the one that came first first. To be read only."""
        self._node_of: dict[str, str] = {}

    def on(self, node: str) -> Sequence[PodInfo]:
        """Those that are nominated to that node."""
        return self.nominated.get(node, ())

    def node_of(self, uid: str) -> str:
        """Where the pod of that `identity` is nominated to; empty: nowhere."""
        return self._node_of.get(uid, "")

    def nominate(self, pod: Pod, node: str | None = None) -> None:
        """Nominate it to that node, to none if empty; None: to what it says itself (SCH-46).

        A pod that is gone, or has a node, is nominated to none (SCH-47).
        """
        self.drop(pod)
        node = self.said(pod) if node is None else node
        known = self._pod_of(pod.key)
        if node and known is not None and not known.is_bound:
            info = info_of(pod)
            self._node_of[info.uid] = node
            self.nominated[node] = (*self.on(node), info)

    def update(self, old: Pod, new: Pod) -> None:
        """The informer tells that a pod has changed. What it says now holds, but where it said
        nothing before and says nothing now: then our own patch is still on its way (SCH-48)."""
        said = self.said(old) or self.said(new)
        node = None if said else self._node_of.get(identity(old))
        self.drop(old)
        self.nominate(new, node)

    def drop(self, pod: Pod) -> None:
        """Nominate it no more: it is deleted, has a node, or is about to (SCH-49)."""
        uid = identity(pod)
        node = self._node_of.pop(uid, None)
        if node is not None:
            left = tuple(info for info in self.on(node) if info.uid != uid)
            if left:
                self.nominated[node] = left
            else:
                del self.nominated[node]
