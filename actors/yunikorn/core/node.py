"""CoreNode: a node as the core keeps its books of it (YK-1, YK-7)."""

from __future__ import annotations

import attrs

from actors.yunikorn.amounts import Amounts, fits, minus, plus
from actors.yunikorn.core.allocation import Allocation, Reservation
from actors.yunikorn.messages import AllocationRequest, NodeNews
from testbed.objects import Map
from testbed.objects.affinity import NO_EXECUTE, NO_SCHEDULE, tolerated


@attrs.define(eq=False)
class CoreNode:
    """What a node has, what is taken of it, and for which asks it is reserved.

    `available` is kept beside the total: each change of one of the three moves it, as in YuniKorn.
    """

    news: NodeNews
    """What the shim has told of it last."""
    available: Map[int]
    """What is left; negative where other schedulers have overbooked it."""
    allocated: Map[int] = attrs.field(factory=Map)
    """What its allocations hold, foreign pods included."""
    allocations: dict[str, Allocation] = attrs.field(factory=dict)
    """By key, those of YuniKorn."""
    foreign: dict[str, AllocationRequest] = attrs.field(factory=dict)
    """By key, the pods that other schedulers have placed here."""
    reservations: dict[str, Reservation] = attrs.field(factory=dict)
    """By ask, the reservations of this node."""

    @property
    def name(self) -> str:
        """Its name."""
        return self.news.name

    def update(self, news: NodeNews) -> None:
        """Take over what it is now; what is left changes as its total does."""
        self.available = plus(self.available, minus(news.room, self.news.room))
        self.news = news

    def add(self, allocation: Allocation) -> None:
        """Book an allocation, whether it fits or not."""
        self.allocations[allocation.key] = allocation
        self._take(allocation.amounts)

    def remove(self, key: str) -> None:
        """Give back what an allocation holds."""
        gone = self.allocations.pop(key, None)
        if gone is not None:
            self._give_back(gone.amounts)

    def add_foreign(self, pod: AllocationRequest) -> None:
        """Book a pod of another scheduler, once."""
        self.remove_foreign(pod.key)
        self.foreign[pod.key] = pod
        self._take(pod.amounts)

    def remove_foreign(self, key: str) -> None:
        """Give back what a foreign pod holds."""
        gone = self.foreign.pop(key, None)
        if gone is not None:
            self._give_back(gone.amounts)

    def has_room_for(self, ask: Allocation) -> bool:
        """Whether it fits in what is left, and the node is not reserved for others alone (YK-8)."""
        is_open = not self.reservations or ask.key in self.reservations
        return is_open and fits(self.available, ask.amounts)

    def allows(self, ask: Allocation) -> bool:
        """Whether the pod may be here by its selector, its affinity and its tolerations."""
        news, spec = self.news, ask.request.spec
        kept_out = (NO_SCHEDULE, NO_EXECUTE)
        taints = [taint for taint in news.taints if taint.effect in kept_out]
        return spec.may_be_on(news.name, news.labels) and all(
            tolerated(taint, spec.tolerations) for taint in taints
        )

    def may_reserve(self, ask: Allocation, *, is_several: bool) -> bool:
        """Whether an ask may reserve it: it fits the empty node, and earlier reservations
        allow it (YK-7)."""
        others = self.reservations.values()
        if others and not (is_several and ask.request.required_node):
            return False
        return all(each.is_required for each in others) and fits(self.news.room, ask.amounts)

    def _take(self, amounts: Amounts) -> None:
        self.allocated = plus(self.allocated, amounts)
        self.available = minus(self.available, amounts)

    def _give_back(self, amounts: Amounts) -> None:
        self.allocated = minus(self.allocated, amounts)
        self.available = plus(self.available, amounts)
