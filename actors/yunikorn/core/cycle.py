"""SchedulingCycle: one pass over the books: reserved asks, placeholders, then all others (YK-3).

1. Reserved asks get their node if it has room; one that requires it starts preemption (YK-10).
2. Placeholders of gangs would be replaced: there are none.
3. Asks are tried queue by queue, application by application: on the node they require, or on any.

The first result ends the cycle.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from actors.yunikorn.amounts import fits, is_something, share
from actors.yunikorn.core.allocation import Allocation, Reservation
from actors.yunikorn.core.application import Application
from actors.yunikorn.core.node import CoreNode
from actors.yunikorn.core.partition import PartitionContext
from actors.yunikorn.core.preemption.preemptor import RequiredNodePreemptor
from actors.yunikorn.messages import CycleResult, NewAllocation
from actors.yunikorn.switches import EVERY_CYCLE, SEED, STOP_APP, YuniKornSwitches

IDLE_MS = 100
"""How long the scheduling loop waits after a cycle that has allocated nothing (T-49)."""
RESERVATION_DELAY_MS = 2_000
"""How old an ordinary ask must be to reserve a node (T-49)."""
WAIT_TIMEOUT_MS = 2 * 3_600_000
"""When an ask without head-room loses its reservation: after 60 minutes, counted twice (YK-9)."""
REPEATS_MAX = 10
"""How often the wait before victims are released again doubles."""
Outcome = Literal["allocated", "changed", "stuck", ""]
"""What came of a try: it allocated, it changed a reservation, it ends the cycle without either, or
nothing, and the next ask is tried."""


class SchedulingCycle:
    """One cycle, at one time. `first` names pods: their reserved asks come first (GEN-6)."""

    preemptor = RequiredNodePreemptor

    def __init__(
        self,
        partition: PartitionContext,
        switches: YuniKornSwitches,
        now_ms: int,
        first: Sequence[str] = (),
    ) -> None:
        self.partition = partition
        self.switches = switches
        self.now_ms = now_ms
        self._first = {pod: nth for nth, pod in enumerate(first)}
        self._due_ms: list[int] = []
        """When another cycle may do something though nothing has happened."""

    def run(self) -> CycleResult:
        """Run it; the shim has to be told what is left in `to_shim`."""
        outcome: Outcome = ""
        apps = self.partition.apps.values()
        if any(is_something(ask.amounts) for app in apps for ask in app.asks.values()):
            outcome = self._try_reserved() or self._try_asks()
        if outcome == "changed":
            self._due_ms.append(self.now_ms + IDLE_MS)
        return CycleResult(
            outcome == "allocated",
            min(self._due_ms) - self.now_ms if self._due_ms else None,
            reserved=tuple(self.partition.reserved()),
            workflows=tuple(
                key for app in apps for key, ask in app.asks.items() if ask.awaits_workflow
            ),
        )

    # -- reserved asks --------------------------------------------------------------------------

    def _try_reserved(self) -> Outcome:
        for queue in self.partition.root.leaves():
            apps = [app for app in self.partition.in_queue(queue) if app.reservations]
            for app in sorted(apps, key=self._first_of):
                held = sorted(app.reservations.values(), key=self._rank)
                for each in held:
                    if outcome := self._try_reservation(app, each):
                        return outcome
                for each in held:
                    if outcome := self._try_elsewhere(app, each):
                        return outcome
        return ""

    def _first_of(self, app: Application) -> tuple[int, str]:
        """YuniKorn walks a map of applications, and one of reservations in each."""
        return min(map(self._rank, app.reservations.values()))[0], app.id

    def _rank(self, each: Reservation) -> tuple[int, str, str]:
        return self._first.get(each.pod, len(self._first)), each.pod, each.key

    def _try_reservation(self, app: Application, held: Reservation) -> Outcome:
        """Allocate a reserved ask on the node that is kept for it, or make room there (YK-10)."""
        ask = app.asks.get(held.key)
        if ask is None:
            self.partition.unreserve(app, held.key)
            return "changed"
        if not app.queue.has_head_room(ask.amounts):
            if self._is_due(held.created_ms + WAIT_TIMEOUT_MS):
                self.partition.unreserve(app, held.key)
            return ""
        node = self.partition.nodes[held.node]
        if held.is_required and not fits(node.available, ask.amounts):
            self._start_preemption(ask, node, held)
            return ""
        return self._allocate(app, ask, node)

    def _try_elsewhere(self, app: Application, held: Reservation) -> Outcome:
        """Allocate an ordinary reserved ask on any other node; a required one has no other."""
        ask = app.asks.get(held.key)
        if ask is None or held.is_required or not app.queue.has_head_room(ask.amounts):
            return ""
        for node in self._nodes():
            if node.name != held.node and (outcome := self._allocate(app, ask, node)):
                return outcome
        return ""

    def _start_preemption(self, ask: Allocation, node: CoreNode, held: Reservation) -> None:
        """In this cycle or in a workflow beside it (YK-11); once or in every cycle (YK-12)."""
        is_repeated = self.switches.repeat == EVERY_CYCLE
        if ask.has_workflow or (ask.has_triggered and not is_repeated):
            return
        if self.switches.start == SEED:
            # A delay of 0 is none. Any other must have passed.
            delay_ms = self.switches.preemption_start_delay_ms
            if not delay_ms or self._is_due(held.created_ms + delay_ms + 1):
                ask.has_workflow = True
        elif self._preempts(ask, node) and is_repeated:
            # A victim may be held up for ever. The cluster comes to rest then, too.
            times = min(ask.releases - 1, REPEATS_MAX)
            self._due_ms.append(self.now_ms + self.switches.repeat_ms * 2**times)

    def _preempts(self, ask: Allocation, node: CoreNode) -> bool:
        return self.preemptor(self.partition, self.switches).try_preemption(ask, node)

    def _is_due(self, at_ms: int) -> bool:
        """Whether that time has come; if not, a cycle will be due then."""
        if self.now_ms < at_ms:
            self._due_ms.append(at_ms)
        return self.now_ms >= at_ms

    # -- all other asks -------------------------------------------------------------------------

    def _try_asks(self) -> Outcome:
        for queue in self.partition.root.leaves():
            for app in self.partition.in_queue(queue):
                for ask in app.in_order():
                    if not app.queue.has_head_room(ask.amounts):
                        continue
                    if not ask.request.required_node:
                        outcome = self._try_nodes(app, ask)
                    elif ask.request.required_node in self.partition.nodes:
                        outcome = self._try_required(app, ask)
                    elif self.switches.unknown_node == STOP_APP:
                        break
                    else:
                        continue
                    if outcome:
                        return outcome
        return ""

    def _try_required(self, app: Application, ask: Allocation) -> Outcome:
        """Allocate an ask on the node that it requires, or reserve that node (YK-5, YK-6)."""
        node = self.partition.nodes[ask.request.required_node]
        cancelled = False
        if self.switches.cancels_reservations:
            for key, held in list(node.reservations.items()):
                if not held.is_required:
                    self.partition.unreserve(self.partition.apps[held.app], key)
                    cancelled = True
        if outcome := self._allocate(app, ask, node):
            return outcome
        if ask.key in app.reservations:
            return "stuck" if self.switches.bug_reserved_ask_blocks else ""
        if node.may_reserve(ask, is_several=self.switches.several_reservations):
            self.partition.reserve(app, ask, node, self.now_ms)
            return "changed"
        # A reservation that is refused is a result, too, and so ends the cycle (YK-35).
        return "changed" if cancelled else "stuck"

    def _try_nodes(self, app: Application, ask: Allocation) -> Outcome:
        """Allocate an ordinary ask on the emptiest node that has room; an old one reserves a node
        if none has."""
        usable = [node for node in self._nodes() if fits(node.news.room, ask.amounts)]
        for node in usable:
            if outcome := self._allocate(app, ask, node):
                return outcome
        allowed = [node for node in usable if node.allows(ask) and not node.reservations]
        if ask.key in app.reservations or not allowed:
            return ""
        if not self._is_due(ask.request.created_ms + RESERVATION_DELAY_MS + 1):
            return ""
        self.partition.reserve(app, ask, allowed[0], self.now_ms)
        return "changed"

    def _nodes(self) -> list[CoreNode]:
        """The nodes on which any ask may be placed, the emptiest first, then by name."""
        usable = [node for _, node in sorted(self.partition.nodes.items())
                  if node.news.is_schedulable]  # fmt: skip
        return sorted(usable, key=lambda node: share(node.allocated, node.news.room))

    def _allocate(self, app: Application, ask: Allocation, node: CoreNode) -> Outcome:
        """Give an ask that node if it may be there and there is room."""
        if not is_something(ask.amounts) or not node.has_room_for(ask) or not node.allows(ask):
            return ""
        self.partition.unreserve(app, ask.key)
        self.partition.book(app, ask, node.name)
        self.partition.to_shim.append(NewAllocation(ask.key, node.name))
        return "allocated"
