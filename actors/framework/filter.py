"""Filter: a plugin that may refuse a node for a pod."""

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
"""What a filter has computed from a pod, once in a cycle. It never changes: `added` and `removed`
return another State."""
Crowds = Mapping[int, Sequence[PodInfo]]
"""Further pods on some rows: those that are nominated there."""


@attrs.frozen(eq=False)
class NodeRefusals:
    """What a filter says of many rows at once."""

    codes: Codes
    """For each row, 0 if the node takes the pod, else the code of its Refusal."""
    refusal: Callable[[int], Refusal]
    """Gives the Refusal of a code."""


class Account(Protocol):
    """What a filter says of one node, kept up to date while preemption moves pods on it."""

    def add(self, other: PodInfo) -> None:
        """A pod is added to the node."""

    def remove(self, other: PodInfo) -> None:
        """A pod is removed from the node."""

    def refusal(self) -> Refusal | None:
        """What `check` would say of the node with the pods it has now."""


class Filter:
    """Says for each node whether a pod may go there, and if not, why.

    A filter of your own needs a `name` and a `check`, which looks at a node with its pods and says
    why it does not suit the pod. `check` is the rule. All other methods make a filter faster, and
    must never give another answer.
    """

    name: ClassVar[str] = ""
    """Its name in switches, Refusals and Decisions."""
    wakes: ClassVar[frozenset[str]] = ANY_EVENT
    """The cluster events that may make it accept a node it has refused (SCH-22)."""
    minds_pods: ClassVar[bool] = True
    """Whether pods that come or go can matter to it for more than its Account counts."""

    def prepare(self, pod: PodInfo, snapshot: Snapshot) -> State:
        """Called once a cycle, before any `check` (PreFilter): the State for all that follows.

        Often the pod itself will do. None: the filter refuses this pod nowhere, whatever pods come
        or go. A Refusal: it refuses this pod everywhere.
        """
        return pod

    def check(self, state: State, node: NodeInfo) -> Refusal | None:
        """Why the pod may not go to this node with the pods on it; None if it may."""
        raise NotImplementedError(f"{self.name} has no check(pod, node)")

    def only(self, state: State) -> frozenset[str] | None:
        """The names of the only nodes that can be feasible; None: any may be (SCH-53)."""
        return None

    def check_all(self, state: State, snapshot: Snapshot) -> NodeRefusals | None:
        """`check` for each row of the Snapshot; None if it refuses none."""
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
        """`check` for some rows, in the order of `crowds`, with these pods added to each.

        Called only with pods that this filter does not mind. `refused` is what `check_all` gave.
        """
        return None if refused is None else NodeRefusals(refused.codes[[*crowds]], refused.refusal)

    def minds(self, state: State, other: PodInfo) -> bool:
        """Whether it matters that this pod comes or goes; asked only if `minds_pods`."""
        return True

    def minds_any(self, state: State, snapshot: Snapshot) -> bool:
        """Whether any pod on a node may matter in that way; True in doubt."""
        return self.minds_pods

    def added(self, state: State, other: PodInfo, node: NodeInfo) -> State:
        """The State with one pod more on that node."""
        return state

    def removed(self, state: State, other: PodInfo, node: NodeInfo) -> State:
        """The State with one pod less on that node."""
        return state

    def account(self, state: State, node: NodeInfo) -> Account | None:
        """What to ask instead of `check` while pods come and go; None: `check` stays as it is."""
        return None

    def sound(self, answer: object) -> Refusal:
        """Pass on what a `check` has returned; TypeError if it is no Refusal."""
        if not isinstance(answer, Refusal):
            what = type(answer).__name__
            raise TypeError(f'{self.name}.check gave a {what}: expected None or self.no("why")')
        return answer

    def no(self, *reasons: str, is_resolvable: bool = True) -> Refusal:
        """Make a Refusal of this filter."""
        return Refusal(self.name, reasons, is_resolvable)


class NodeFilter(Filter):
    """A Filter that looks at nodes only, not at the pods on them.

    Nodes of the same `kind` get the same answer, so one of each kind is checked.
    """

    wakes = NODE_UPDATED | {NODE_ADDED}
    minds_pods = False

    def kind(self, node: Node) -> Hashable:
        """What it looks at in a node: two nodes with the same kind get the same answer."""
        return node

    def check_all(self, state: State, snapshot: Snapshot) -> NodeRefusals | None:
        kinds = snapshot.kinds_of(self.name, self.kind)
        refusals = [self.check(state, node) for node in kinds.samples]
        if not any(refusal is not None for refusal in refusals):
            return None
        given = [self.sound(refusal) for refusal in refusals if refusal is not None]
        which = [0 if refusal is None else given.index(refusal) + 1 for refusal in refusals]
        # A node without a kind has the code -1, which takes the last place of the table: 0.
        codes = np.array([*which, 0], np.int64)[kinds.codes]
        return NodeRefusals(codes, lambda code: given[code - 1])
