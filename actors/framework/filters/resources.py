"""NodeResourcesFit: a node must have room for all that a pod requests (SCH-58)."""

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
"""The resources that are always compared for a pod with any request."""
BASIC = frozenset((CPU, MEMORY, EPHEMERAL))


@attrs.frozen(eq=False)
class Asked:
    """What a pod requests, to compare with what a node has left; in the order of the messages."""

    # What is lacking is a sum of bits, one for each resource. So the comparison is arithmetic on
    # whole columns, and nodes that lack the same resources have the same code and share a Refusal:
    # there are few codes, however many nodes there are.

    names: tuple[str, ...]
    """The resources. The first is `pods`, of which one is needed."""
    amounts: tuple[int, ...]
    known: dict[int, Refusal] = attrs.field(factory=dict)
    """The Refusals made so far, by code."""

    def lacking(self, left: Sequence[int]) -> int:
        """The code of what is lacking: bit n is set if too little is left of the n-th resource."""
        code, bit = 0, 1
        for amount, has in zip(self.amounts, left, strict=True):
            if amount > has:
                code += bit
            bit += bit
        return code

    def reasons(self, code: int) -> list[str]:
        """The messages of a code."""
        lacking = [name for bit, name in enumerate(self.names) if code >> bit & 1]
        return [f"Insufficient {name}" if name != PODS else "Too many pods" for name in lacking]


class NodeResourcesFitFilter(Filter):
    """Refuses nodes that have too little left of a resource.

    Requests are compared with allocatable less the requests of the pods there; real use is unknown.
    """

    name = "NodeResourcesFit"
    wakes = NODE_UPDATED | {NODE_ADDED, POD_DELETED}
    minds_pods = False

    def prepare(self, pod: PodInfo, snapshot: Snapshot) -> State:
        return asked_by(pod)

    def check(self, state: State, node: NodeInfo) -> Refusal | None:
        code = state.lacking(node.left_of(state.names))
        return self.refusal(state, code) if code else None

    def check_all(self, state: State, snapshot: Snapshot) -> NodeRefusals | None:
        return self._refused(state, [snapshot.left[name] for name in state.names])

    def check_crowded(
        self, state: State, snapshot: Snapshot, refused: NodeRefusals | None, crowds: Crowds
    ) -> NodeRefusals | None:
        rows, names = np.array([*crowds], np.int64), state.names
        taken = np.array([taken_by(pods, names) for pods in crowds.values()], np.int64)
        left = [snapshot.left[name][rows] - taken[:, n] for n, name in enumerate(names)]
        return self._refused(state, left)

    def _refused(self, state: Asked, columns: Sequence[Column]) -> NodeRefusals | None:
        """The answer for rows, given a column of what they have left for each resource."""
        lacking = [amount > left for amount, left in zip(state.amounts, columns, strict=True)]
        if not np.logical_or.reduce(lacking).any():
            return None
        codes = np.zeros(len(columns[0]), np.int64)
        for bit, rows in enumerate(lacking):
            codes[rows] += 1 << bit
        return NodeRefusals(codes, lambda code: self.refusal(state, code))

    def account(self, state: State, node: NodeInfo) -> Account | None:
        return ResourceAccount(self, state, node)

    def refusal(self, state: Asked, code: int) -> Refusal:
        """The Refusal of a code."""
        refusal = state.known.get(code)
        if refusal is None:
            refusal = state.known[code] = self.no(*state.reasons(code))
        return refusal


class ResourceAccount:
    """The Account of this filter: what a node has left of each resource that the pod requests."""

    __slots__ = ("_asked", "_filter", "_left")

    def __init__(self, own: NodeResourcesFitFilter, asked: Asked, node: NodeInfo) -> None:
        self._filter, self._asked = own, asked
        self._left = node.left_of(asked.names)

    def add(self, other: PodInfo) -> None:
        """Subtract its requests."""
        left, taken = self._left, other.taken
        for place, name in enumerate(self._asked.names):
            left[place] -= taken.get(name, 0)

    def remove(self, other: PodInfo) -> None:
        """Add its requests again."""
        left, taken = self._left, other.taken
        for place, name in enumerate(self._asked.names):
            left[place] += taken.get(name, 0)

    def refusal(self) -> Refusal | None:
        """The Refusal for what is lacking, or None."""
        code = self._asked.lacking(self._left)
        return self._filter.refusal(self._asked, code) if code else None


def asked_by(pod: PodInfo) -> Asked:
    """What to compare for a pod."""
    # A pod without any request needs a place among the pods of the node and nothing else. For any
    # other pod, cpu, memory and ephemeral storage are compared even where it requests none of them:
    # 0 is refused by a node that is overcommitted and has less than 0 left, as in Kubernetes.
    asked = pod.requests
    beyond = sorted(asked.keys() - BASIC)
    if beyond:
        return Asked((*FOUR, *beyond), (1, *pod.room, *[asked[name] for name in beyond]))
    if any(pod.room):
        return Asked(FOUR, (1, *pod.room))
    return Asked((PODS,), (1,))


def taken_by(pods: Sequence[PodInfo], names: Sequence[str]) -> list[int]:
    """What pods take of each of these resources, all together."""
    if len(names) == len(FOUR):
        return [len(pods), *map(sum, zip(*[info.room for info in pods], strict=True))]
    return [sum([info.taken.get(name, 0) for info in pods]) for name in names]
