"""Room: a Trial for the many pods that only mind how much is left: a few sums."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from actors.framework.filters.resources import FOUR, Asked, NodeResourcesFitFilter
from actors.framework.nodeinfo import NodeInfo
from actors.framework.podinfo import PodInfo
from actors.framework.refusal import Refusal

ENDLESS = 2**100
"""How much there is of what a pod that asks for nothing does not mind."""


class Room:
    """What a node has left beside the pod itself and the pods that are nominated there.

    Where it fits beside those it fits without them, so they always count (SCH-59). What is so of
    other nodes does not matter.
    """

    __slots__ = ("_asked", "_cpu", "_disk", "_filter", "_memory", "_pods", "name")

    def __init__(
        self,
        own: NodeResourcesFitFilter,
        asked: Asked,
        node: NodeInfo,
        nominated: Sequence[PodInfo],
    ) -> None:
        self.name = node.name
        """The node it is about."""
        self._filter, self._asked = own, asked
        amounts = zip(asked.names, asked.amounts, strict=True)
        left = [node.left(name) - amount for name, amount in amounts]
        left += [ENDLESS] * (len(FOUR) - len(left))
        self._pods, self._cpu, self._memory, self._disk = left
        for info in nominated:
            self.add(info)

    def add(self, info: PodInfo, node: str = "") -> None:
        """Let that pod be there."""
        if not node or node == self.name:
            cpu, memory, disk = info.room
            self._pods -= 1
            self._cpu -= cpu
            self._memory -= memory
            self._disk -= disk

    def remove(self, info: PodInfo, node: str = "") -> None:
        """Let that pod be gone from there."""
        if not node or node == self.name:
            cpu, memory, disk = info.room
            self._pods += 1
            self._cpu += cpu
            self._memory += memory
            self._disk += disk

    def remove_all(self, infos: Iterable[PodInfo]) -> None:
        """Let these pods be gone from there."""
        for info in infos:
            self.remove(info)

    def spare(self, info: PodInfo) -> bool:
        """Let that pod be there, if the pod fits all the same; whether it does."""
        cpu, memory, disk = info.room
        cpu, memory, disk = self._cpu - cpu, self._memory - memory, self._disk - disk
        if self._pods < 1 or cpu < 0 or memory < 0 or disk < 0:
            return False
        self._pods, self._cpu, self._memory, self._disk = self._pods - 1, cpu, memory, disk
        return True

    def refusal(self) -> Refusal | None:
        """What there is too little of; None: nothing."""
        left = (self._pods, self._cpu, self._memory, self._disk)
        code = sum(1 << bit for bit, amount in enumerate(left) if amount < 0)
        return self._filter.refusal(self._asked, code) if code else None

    def fits(self) -> bool:
        """Whether there is enough of everything."""
        return self._pods >= 0 and self._cpu >= 0 and self._memory >= 0 and self._disk >= 0
