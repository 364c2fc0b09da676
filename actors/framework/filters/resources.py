"""NodeResourcesFit: a node has room for all that a pod asks for (SCH-58)."""

from __future__ import annotations

from collections.abc import Sequence

import attrs
import numpy as np

from actors.framework.cluster_events import NODE_ADDED, NODE_UPDATED, POD_DELETED
from actors.framework.filter import Account, Crowds, Filter, NodeRefusals, State
from actors.framework.nodeinfo import NodeInfo
from actors.framework.podinfo import EPHEMERAL, MEMORY, PODS, PodInfo
from actors.framework.refusal import Refusal
from actors.framework.snapshot import Column, Snapshot
from testbed.objects.quantity import CPU

FOUR = (PODS, CPU, MEMORY, EPHEMERAL)
"""What is compared for a pod that asks for anything, if that is nothing else."""


@attrs.frozen(eq=False)
class Asked:
    """What is compared with what a node has left, in the order in which it is told."""

    names: tuple[str, ...]
    """The resources; first of all, room for one more pod."""
    amounts: tuple[int, ...]
    known: dict[int, Refusal] = attrs.field(factory=dict)
    """The Refusal of each code that was asked for: many nodes lack the same."""

    def lacking(self, left: Sequence[int]) -> int:
        """Which of them there is less left of than is asked for: the sum of their bits."""
        code, bit = 0, 1
        for amount, has in zip(self.amounts, left, strict=True):
            if amount > has:
                code += bit
            bit += bit
        return code

    def said(self, code: int) -> list[str]:
        """What is told of those."""
        lacking = [name for bit, name in enumerate(self.names) if code >> bit & 1]
        return [f"Insufficient {name}" if name != PODS else "Too many pods" for name in lacking]


class NodeResourcesFitFilter(Filter):
    """Refuses nodes that have not enough left of something.

    What is asked for is compared with what is not yet asked for: nobody knows what is used.
    """

    name = "NodeResourcesFit"
    wakes = NODE_UPDATED | {NODE_ADDED, POD_DELETED}
    minds_pods = False

    def prepare(self, pod: PodInfo, snapshot: Snapshot) -> State:
        return asked_by(pod)

    def check(self, state: State, node: NodeInfo) -> Refusal | None:
        code = state.lacking([node.left(name) for name in state.names])
        return self.refusal(state, code) if code else None

    def check_all(self, state: State, snapshot: Snapshot) -> NodeRefusals | None:
        return self._refused(state, [snapshot.left[name] for name in state.names])

    def check_crowded(
        self, state: State, snapshot: Snapshot, refused: NodeRefusals | None, crowds: Crowds
    ) -> NodeRefusals | None:
        rows = np.array([*crowds], np.int64)
        left = []
        for name in state.names:
            taken = [sum([info.taken.get(name, 0) for info in pods]) for pods in crowds.values()]
            left.append(snapshot.left[name][rows] - np.array(taken, np.int64))
        return self._refused(state, left)

    def _refused(self, state: Asked, columns: Sequence[Column]) -> NodeRefusals | None:
        """What is said of rows that have so much left."""
        lacking = [amount > left for amount, left in zip(state.amounts, columns, strict=True)]
        if not np.logical_or.reduce(lacking).any():
            return None
        codes = np.zeros(len(columns[0]), np.int64)
        for bit, rows in enumerate(lacking):
            codes[rows] += 1 << bit
        return NodeRefusals(codes, lambda code: self.refusal(state, code))

    def account(self, state: State, node: NodeInfo) -> Account | None:
        return Left(self, state, node)

    def refusal(self, state: Asked, code: int) -> Refusal:
        """The Refusal of a sum of bits."""
        refusal = state.known.get(code)
        if refusal is None:
            refusal = state.known[code] = self.no(*state.said(code))
        return refusal


class Left:
    """What a node has left of all that a pod asks for."""

    __slots__ = ("_asked", "_filter", "_left")

    def __init__(self, own: NodeResourcesFitFilter, asked: Asked, node: NodeInfo) -> None:
        self._filter, self._asked = own, asked
        self._left = [node.left(name) for name in asked.names]

    def add(self, other: PodInfo) -> None:
        """It takes what it asks for."""
        left, taken = self._left, other.taken
        for place, name in enumerate(self._asked.names):
            left[place] -= taken.get(name, 0)

    def remove(self, other: PodInfo) -> None:
        """It gives that back."""
        left, taken = self._left, other.taken
        for place, name in enumerate(self._asked.names):
            left[place] += taken.get(name, 0)

    def refusal(self) -> Refusal | None:
        """What there is too little of; None: nothing."""
        code = self._asked.lacking(self._left)
        return self._filter.refusal(self._asked, code) if code else None


def asked_by(pod: PodInfo) -> Asked:
    """What a node must have for a pod. One that asks for anything is refused by a node that has
    less than nothing left of cpu, memory or ephemeral storage, even if it asks for none of it."""
    asked = pod.requests
    beyond = sorted(name for name in asked if name not in (CPU, MEMORY, EPHEMERAL))
    if not beyond and not any(asked.values()):
        return Asked((PODS,), (1,))
    names = (*FOUR, *beyond)
    return Asked(names, (1, *(asked.get(name, 0) for name in names[1:])))
