"""Quick trial: a Trial for the many pods that need resources and nothing else: a few sums."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from actors.framework.filters.resources import FOUR, Asked, NodeResourcesFitFilter
from actors.framework.nodeinfo import NodeInfo
from actors.framework.podinfo import EPHEMERAL, MEMORY, PODS, PodInfo
from actors.framework.refusal import Refusal
from testbed.objects.quantity import CPU

ENDLESS = 2**100
"""How much is left of a resource that the pod does not ask for."""


class QuickTrial:
    """What is left on a node beside the preemptor and the pods nominated there.

    The nominated pods always count: a pod that fits beside them also fits without them if only
    resources matter (SCH-59). Other nodes do not matter at all.
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
        """The name of the node."""
        self._filter, self._asked = own, asked
        has, taken, asks = node.allocatable, node.requested, asked.amounts
        self._pods = has.get(PODS, 0) - len(node.pods) - asks[0]
        self._cpu = self._memory = self._disk = ENDLESS
        if len(asks) == len(FOUR):
            self._cpu = has.get(CPU, 0) - taken.get(CPU, 0) - asks[1]
            self._memory = has.get(MEMORY, 0) - taken.get(MEMORY, 0) - asks[2]
            self._disk = has.get(EPHEMERAL, 0) - taken.get(EPHEMERAL, 0) - asks[3]
        for info in nominated:
            self.add(info)

    def add(self, info: PodInfo, node: str = "") -> None:
        """Add that pod to the node; nothing happens if it is added to another one."""
        if not node or node == self.name:
            cpu, memory, disk = info.room
            self._pods -= 1
            self._cpu -= cpu
            self._memory -= memory
            self._disk -= disk

    def remove(self, info: PodInfo, node: str = "") -> None:
        """Remove that pod from the node; nothing happens if it is removed from another one."""
        if not node or node == self.name:
            cpu, memory, disk = info.room
            self._pods += 1
            self._cpu += cpu
            self._memory += memory
            self._disk += disk

    def remove_all(self, infos: Iterable[PodInfo]) -> None:
        """Remove these pods from the node."""
        for info in infos:
            cpu, memory, disk = info.room
            self._pods += 1
            self._cpu += cpu
            self._memory += memory
            self._disk += disk

    def spare(self, info: PodInfo) -> bool:
        """Add that pod if the preemptor still fits then. Whether it stays."""
        return not self.reprieve((info,), {})

    def reprieve(self, infos: Iterable[PodInfo], back: dict[str, PodInfo]) -> list[PodInfo]:
        """Spare one of these pods after another: note in `back` the ones that stay, by uid, and
        return the others."""
        pods, has_cpu, has_memory, has_disk = self._pods, self._cpu, self._memory, self._disk
        gone = []
        for info in infos:
            cpu, memory, disk = info.room
            if pods < 1 or cpu > has_cpu or memory > has_memory or disk > has_disk:
                gone.append(info)
            else:
                back[info.uid] = info
                pods -= 1
                has_cpu -= cpu
                has_memory -= memory
                has_disk -= disk
        self._pods, self._cpu, self._memory, self._disk = pods, has_cpu, has_memory, has_disk
        return gone

    def refusal(self) -> Refusal | None:
        """Which resources are insufficient, as a Refusal; None if the preemptor fits."""
        left = (self._pods, self._cpu, self._memory, self._disk)
        code = sum(1 << bit for bit, amount in enumerate(left) if amount < 0)
        return self._filter.refusal(self._asked, code) if code else None

    def fits(self) -> bool:
        """Whether there is enough of every resource."""
        return self._pods >= 0 and self._cpu >= 0 and self._memory >= 0 and self._disk >= 0
