"""Nominator: which pods are nominated to which node."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from actors.framework.cluster_events import NOMINATED
from actors.framework.podinfo import PodInfo, identity, info_of
from testbed.objects import Pod


def in_status(pod: Pod) -> str:
    """The node in `status.nominatedNodeName`; empty: none."""
    return pod.status.nominated_node_name


def in_annotation(pod: Pod) -> str:
    """The node in the annotation that older versions used; empty: none."""
    return pod.meta.annotations.get(NOMINATED, "")


NOMINATION = {"status": in_status, "annotation": in_annotation}
"""How to read a nomination from a pod, by the values of the switch nnn_storage."""


class Nominator:
    """The nominations in memory: each pod has one node at most, and each node has its pods in the
    order in which they were nominated (SCH-45).

    A nomination lasts while its pod is in any place of the queue, and during its attempts. It is
    written here before the patch of the pod is sent, so memory is ahead of the server for a while.
    If the node is deleted, the nomination stays until the next cycle of the pod (SCH-49).
    """

    def __init__(
        self,
        pod_of: Callable[[str], Pod | None],
        nomination: Callable[[Pod], str] = in_status,
        *,
        nominates_gone: bool = False,
    ) -> None:
        """`pod_of` gives the pod of a key as the informer has it now."""
        self._pod_of = pod_of
        self._nominates_gone = nominates_gone
        self.said = nomination
        """Reads from a pod object which node it is nominated to; empty: none."""
        self.nominated: dict[str, Sequence[PodInfo]] = {}
        """The nominated pods by node, in order. Read only."""
        self._node_of: dict[str, str] = {}

    def on(self, node: str) -> Sequence[PodInfo]:
        """The pods that are nominated to a node."""
        return self.nominated.get(node, ())

    def node_of(self, uid: str) -> str:
        """The node that the pod of that `identity` is nominated to; empty: none."""
        return self._node_of.get(uid, "")

    def nominate(self, pod: Pod, node: str | None = None) -> None:
        """Nominate a pod to `node`; empty: to none; None: to the node its object names (SCH-46).

        A pod that the informer no longer has, or that has a node, is not nominated, unless it
        `nominates_gone` (SCH-47).
        """
        if self._node_of:
            self.drop(pod)
        node = self.said(pod) if node is None else node
        known = self._pod_of(pod.key)
        is_waiting = self._nominates_gone or (known is not None and not known.is_bound)
        if node and is_waiting:
            info = info_of(pod)
            self._node_of[info.uid] = node
            self.nominated[node] = (*self.on(node), info)

    def update(self, old: Pod, new: Pod) -> None:
        """Called when the informer reports a change of a pod: take over its nomination."""
        # If neither object names a node, but memory does, our own patch has not come back yet, and
        # this change is about something else. Memory wins then; otherwise the room that was made
        # would be given away. In all other cases the new object wins, also if it names none now
        # (SCH-48).
        is_named = self.said(old) or self.said(new)
        node = None if is_named else self._node_of.get(identity(old))
        if self._node_of:
            self.drop(old)
        self.nominate(new, node)

    def drop(self, pod: Pod) -> None:
        """Remove the nomination of a pod that is deleted, assumed or bound (SCH-49)."""
        uid = identity(pod)
        node = self._node_of.pop(uid, None)
        if node is not None:
            left = tuple(info for info in self.on(node) if info.uid != uid)
            if left:
                self.nominated[node] = left
            else:
                del self.nominated[node]
