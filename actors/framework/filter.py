"""Filter: what may say no to a node."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Any, ClassVar, Protocol

import attrs
import numpy as np
from numpy.typing import NDArray

from actors.framework.cluster_events import ANY_EVENT, NODE_ADDED, NODE_UPDATED
from actors.framework.nodeinfo import NodeInfo
from actors.framework.podinfo import PodInfo
from actors.framework.refusal import Refusal
from actors.framework.snapshot import Snapshot
from testbed.objects import Node

Codes = NDArray[np.int64]
State = Any
"""What a filter has worked out of one pod, once for a cycle. It never changes: what would be so
with one pod more or less is another State."""

Crowds = Mapping[int, Sequence[PodInfo]]
"""More pods on some rows."""


@attrs.frozen(eq=False)
class NodeRefusals:
    """What a filter says of all nodes at once."""

    codes: Codes
    """Of each row of the Snapshot: 0 if the node will do, else which Refusal it is."""
    refusal: Callable[[int], Refusal]
    """The Refusal of a code."""


class Account(Protocol):
    """What a filter would say of one node, kept up to date as pods come and go."""

    def add(self, other: PodInfo) -> None:
        """That pod is there, too."""

    def remove(self, other: PodInfo) -> None:
        """That pod is there no more."""

    def refusal(self) -> Refusal | None:
        """As `check` would say of the node as it is now."""


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
    """Whether pods that come or go can matter to it, beyond what its Account keeps of them."""

    def prepare(self, pod: PodInfo, snapshot: Snapshot) -> State:
        """What it must know of a pod, once a cycle and before any `check`.

        None: it refuses this pod nowhere, whatever pods come or go. A Refusal: it refuses it
        everywhere. Else this is handed to all that follows; usually, the pod itself will do.
        """
        return pod

    def check(self, state: State, node: NodeInfo) -> Refusal | None:
        """Why the pod may not go to that node with those pods on it; None if it may."""
        raise NotImplementedError(f"{self.name} has no check(pod, node)")

    def only(self, state: State) -> frozenset[str] | None:
        """The names of the nodes it is worth while to look at; None: all."""
        return None

    def check_all(self, state: State, snapshot: Snapshot) -> NodeRefusals | None:
        """As `check` of each row of the Snapshot; None: it refuses none of them."""
        refusals: list[Refusal] = []
        codes = np.zeros(len(snapshot), np.int64)
        for row, node in enumerate(snapshot.infos):
            refusal = self.check(state, node)
            if refusal is not None:
                refusals.append(self.sound(refusal))
                codes[row] = len(refusals)
        return NodeRefusals(codes, lambda code: refusals[code - 1]) if refusals else None

    def check_crowded(
        self, state: State, snapshot: Snapshot, refused: NodeRefusals | None, crowds: Crowds
    ) -> NodeRefusals | None:
        """As `check` of some rows, in the order given, with more pods on each; none of which it
        minds. `refused` is what it says of all rows as they are."""
        return None if refused is None else NodeRefusals(refused.codes[[*crowds]], refused.refusal)

    def minds(self, state: State, other: PodInfo) -> bool:
        """Whether it is any matter to it that that pod comes or goes; if it minds any."""
        return True

    def minds_any(self, state: State, snapshot: Snapshot) -> bool:
        """Whether there may be pods on nodes that it minds."""
        return self.minds_pods

    def added(self, state: State, other: PodInfo, node: NodeInfo) -> State:
        """What it must know with one pod more on that node."""
        return state

    def removed(self, state: State, other: PodInfo, node: NodeInfo) -> State:
        """What it must know with one pod less on that node."""
        return state

    def account(self, state: State, node: NodeInfo) -> Account | None:
        """What stands for `check` of that node while pods come and go; None: nothing does."""
        return None

    def sound(self, said: object) -> Refusal:
        """What a `check` has said that was not None; TypeError if no `check` can say that."""
        if not isinstance(said, Refusal):
            what = type(said).__name__
            raise TypeError(f'{self.name}.check gave a {what}: expected None or self.no("why")')
        return said

    def no(self, *reasons: str, is_resolvable: bool = True) -> Refusal:
        """A Refusal of its own."""
        return Refusal(self.name, reasons, is_resolvable)


class NodeFilter(Filter):
    """A Filter that looks at nodes alone, and not at the pods on them.

    So it need look only once at each kind of node that it tells apart.
    """

    wakes = NODE_UPDATED | {NODE_ADDED}
    minds_pods = False

    def kind(self, node: Node) -> Hashable:
        """All that it looks at; of two nodes with the same it says the same."""
        return node

    def check_all(self, state: State, snapshot: Snapshot) -> NodeRefusals | None:
        kinds = snapshot.told_apart(self.name, self.kind)
        refusals = [self.check(state, node) for node in kinds.samples]
        if not any(refusal is not None for refusal in refusals):
            return None
        said = [self.sound(refusal) for refusal in refusals if refusal is not None]
        which = [0 if refusal is None else said.index(refusal) + 1 for refusal in refusals]
        codes = np.array([*which, 0], np.int64)[kinds.codes]
        return NodeRefusals(codes, lambda code: said[code - 1])
