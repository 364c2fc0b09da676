"""Filter: what may say no to a node."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, ClassVar

import attrs
import numpy as np
from numpy.typing import NDArray

from actors.scheduler.decision import Refusal
from actors.scheduler.nodeinfo import NodeInfo
from actors.scheduler.podinfo import PodInfo

if TYPE_CHECKING:
    from actors.scheduler.snapshot import Snapshot

Codes = NDArray[np.int64]
State = Any
"""What a filter has worked out of one pod, once for a cycle. It never changes: what would be so
with one pod more or less is another State."""

POD_ADDED, POD_UPDATED, POD_DELETED = "pod added", "pod updated", "pod deleted"
NODE_ADDED, NODE_DELETED, NODE_TAINTS = "node added", "node deleted", "node taints"
NODE_LABELS, NODE_ALLOCATABLE, NODE_CONDITIONS = (
    "node labels",
    "node allocatable",
    "node conditions",
)
ANY_POD = frozenset({POD_ADDED, POD_UPDATED, POD_DELETED})
NODE_UPDATED = frozenset({NODE_ALLOCATABLE, NODE_LABELS, NODE_TAINTS, NODE_CONDITIONS})
ANY_EVENT = ANY_POD | NODE_UPDATED | {NODE_ADDED, NODE_DELETED}


@attrs.frozen
class Refused:
    """What a filter says of many nodes at once."""

    codes: Codes
    """Of each row of the Snapshot: 0 if the node will do, else which Refusal it is."""
    refusal: Callable[[int], Refusal]
    """The Refusal of a code."""


class Filter:
    """Says of each node whether a pod may go there, and if not, why.

    One of your own is ten lines: a `name`, and a `check` that looks at a node and the pods on it,
    and says why they do not suit the pod. `check` is the rule: whatever else a Filter has makes
    it quicker, never different.
    """

    name: ClassVar[str] = ""
    """As a Refusal, a Decision and a queue know it."""
    wakes: ClassVar[frozenset[str]] = ANY_EVENT
    """What happens in a cluster that may change its mind (SCH-22)."""
    minds_pods: ClassVar[bool] = True
    """Whether it minds which pods are on a node; False: it looks at the node alone."""

    def prepare(self, pod: PodInfo, snapshot: Snapshot) -> State:
        """What it must know of a pod, once a cycle and before any `check`.

        None: it refuses this pod nowhere, whatever pods come or go. A Refusal: it refuses it
        everywhere. Else this is handed to all that follows; usually, the pod itself will do.
        """
        return pod

    def check(self, state: State, node: NodeInfo) -> Refusal | None:
        """Why the pod may not go to that node with those pods on it; None if it may."""
        raise NotImplementedError

    def only(self, state: State) -> frozenset[str] | None:
        """The names of the nodes it is worth while to look at; None: all."""
        return None

    def check_all(self, state: State, snapshot: Snapshot) -> Refused | None:
        """As `check` of each row of the Snapshot; None: it refuses none of them."""
        refusals: list[Refusal] = []
        codes = np.zeros(len(snapshot), np.int64)
        for row, node in enumerate(snapshot.infos):
            refusal = self.check(state, node)
            if refusal is not None:
                refusals.append(refusal)
                codes[row] = len(refusals)
        return Refused(codes, lambda code: refusals[code - 1])

    def added(self, state: State, other: PodInfo, node: NodeInfo) -> State:
        """What it must know with one pod more on that node; the same State if that is no matter."""
        return state

    def removed(self, state: State, other: PodInfo, node: NodeInfo) -> State:
        """What it must know with one pod less on that node."""
        return state

    def no(self, *reasons: str, is_resolvable: bool = True) -> Refusal:
        """A Refusal of its own."""
        return Refusal(self.name, reasons, is_resolvable)
