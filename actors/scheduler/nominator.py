"""Nominator: which pods have had room made for them, and on which node."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from actors.scheduler.events import NOMINATED
from testbed.objects import Pod


def in_status(pod: Pod) -> str:
    """The node a pod is nominated to, as its status says it."""
    return pod.status.nominated_node_name


def in_annotation(pod: Pod) -> str:
    """The same, as an annotation says it."""
    return pod.meta.annotations.get(NOMINATED, "")


NOMINATION = {"status": in_status, "annotation": in_annotation}
"""How a nomination is read, by where it is written (the switch nnn_storage)."""


def identity(pod: Pod) -> str:
    """What tells this pod from all others, also of its name; a pod of no server has a key only."""
    return pod.meta.uid or pod.key


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
        self._on: dict[str, dict[str, Pod]] = {}
        self._node_of: dict[str, str] = {}

    @property
    def nominated(self) -> Mapping[str, Sequence[Pod]]:
        """All of them, by node."""
        return {node: tuple(pods.values()) for node, pods in self._on.items()}

    def on(self, node: str) -> Sequence[Pod]:
        """Those that are nominated to that node, the one that came first first."""
        pods = self._on.get(node)
        return () if pods is None else tuple(pods.values())

    def node_of(self, pod: Pod) -> str:
        """Where that pod is nominated to; empty: nowhere."""
        return self._node_of.get(identity(pod), "")

    def nominate(self, pod: Pod, node: str | None = None) -> None:
        """Nominate it to that node, to none if empty; None: to what it says itself (SCH-46).

        A pod that is gone, or has a node, is nominated to none (SCH-47).
        """
        self.drop(pod)
        node = self.said(pod) if node is None else node
        known = self._pod_of(pod.key)
        if node and known is not None and not known.is_bound:
            self._node_of[identity(pod)] = node
            self._on.setdefault(node, {})[identity(pod)] = pod

    def update(self, old: Pod, new: Pod) -> None:
        """The informer tells that a pod has changed. What it says now holds, but where it said
        nothing before and says nothing now: then our own patch is still on its way (SCH-48)."""
        said = self.said(old) or self.said(new)
        node = None if said else self._node_of.get(identity(old))
        self.drop(old)
        self.nominate(new, node)

    def drop(self, pod: Pod) -> None:
        """Nominate it no more: it is deleted, has a node, or is about to (SCH-49)."""
        node = self._node_of.pop(identity(pod), None)
        if node is not None:
            pods = self._on[node]
            del pods[identity(pod)]
            if not pods:
                del self._on[node]
