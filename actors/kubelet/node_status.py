"""NodeStatus: what a kubelet writes of its node: Ready, the pressures, what is allocatable.

A kubelet works this status out every ten seconds, counted from its start. It writes the status when
it has changed; with `heartbeat=every` also when it was not written for five minutes (KUB-41). This
one waits until something has changed, and works it out at the next of these times; with
`heartbeat=on_change`, at once.
"""

from __future__ import annotations

from collections.abc import Callable

from actors.kubelet.eviction.settings import allocatable_of
from actors.kubelet.eviction.signals import PRESSURES
from actors.kubelet.evictor import Evictor
from actors.kubelet.switches import EVERY, OFF, ON_CHANGE
from testbed import ApiError, Client
from testbed.objects import Condition, Map, Node, NodeStatus, Quantity, condition
from testbed.objects.calendar import whole_second
from testbed.objects.condition import FALSE, TRUE
from testbed.objects.form import to_tree
from testbed.objects.meta import evolved

EVERY_MS, REPORT_MS = 10_000, 300_000
READY = Condition("Ready", TRUE, "KubeletReady", "kubelet is posting ready status")
SAID = {
    "MemoryPressure": ("KubeletHasInsufficientMemory", "KubeletHasSufficientMemory"),
    "DiskPressure": ("KubeletHasDiskPressure", "KubeletHasNoDiskPressure"),
    "PIDPressure": ("KubeletHasInsufficientPID", "KubeletHasSufficientPID"),
}
"""The reasons of the conditions, if they are True and if they are False."""


class NodeStatusWriter:
    """Writes the status of one node, for one life of its kubelet."""

    def __init__(
        self,
        client: Client,
        node: Callable[[], Node | None],
        eviction: Evictor | None,
        reserved: Map[Quantity] | None,
        heartbeat: str,
    ) -> None:
        self._client = client
        self._node = node
        self._eviction = eviction
        self._reserved = reserved
        self._reports = heartbeat != OFF
        """Whether it writes the condition Ready."""
        self._repeats = heartbeat == EVERY
        """Whether it writes even if nothing changes."""
        self._is_ticked = heartbeat != ON_CHANGE
        """Whether a change waits for the next tick."""
        self._began_ms = client.elapsed()
        self._written_ms: int | None = None
        """When it was last written; None: never by this life."""
        self._is_late = False
        """Whether the last write has failed."""

    def digest(self, now_ms: int) -> object:
        """What it remembers, with times as distances from now."""
        report_ms = 0
        if self._repeats and self._written_ms is not None:
            report_ms = now_ms - self._written_ms
        phase_ms = (now_ms - self._began_ms) % EVERY_MS
        return self._is_late, report_ms, phase_ms

    async def run(self) -> None:
        """Write it at the start, and then when it is due; return if it never will be."""
        while not await self._sync() or self._eviction is not None or self._repeats:
            await self._wait()

    async def _sync(self) -> bool:
        """Write the status if it has changed or is due; returns whether it is written."""
        self._is_late = False
        node, now_ms = self._node(), self._client.elapsed()
        if node is None:
            return True
        new = self.status_of(node.status)
        is_due = self._repeats and (
            self._written_ms is None or now_ms - self._written_ms >= REPORT_MS
        )
        if not is_due and _apart_from_time(new) == _apart_from_time(node.status):
            return True
        conditions = [to_tree(each) for each in new.conditions if self._is_own(each)]
        change = {"conditions": conditions}
        if self._reserved is not None:
            change["allocatable"] = to_tree(new)["allocatable"]
        try:
            await self._client.patch(
                node, {"status": change}, how="strategic", subresource="status"
            )
        except ApiError:
            self._is_late = True
            return False
        self._written_ms = now_ms
        return True

    def status_of(self, before: NodeStatus) -> NodeStatus:
        """The status as it should be now."""
        now_ms, conditions = self._client.now(), before.conditions
        beat_ms = whole_second(now_ms) if self._reports else None
        for each in self._conditions():
            new = evolved(each, heartbeat_ms=beat_ms)
            conditions = condition.having(conditions, new, now_ms)
        room = before.allocatable
        if self._reserved is not None and self._eviction is not None:
            room = allocatable_of(before.capacity, self._reserved, self._eviction.settings)
        return NodeStatus(before.capacity, room, conditions)

    def _conditions(self) -> list[Condition]:
        """The conditions that it reports."""
        found = [READY] if self._reports else []
        if self._eviction is not None:
            for name in PRESSURES:
                holds = name in self._eviction.pressures
                reason = SAID[name][0 if holds else 1]
                found.append(Condition(name, TRUE if holds else FALSE, reason))
        return found

    def _is_own(self, each: Condition) -> bool:
        return each.type in PRESSURES or (self._reports and each.type == READY.type)

    async def _wait(self) -> None:
        """Wait for the next time at which there may be something to write."""
        client = self._client
        if self._is_late:
            tick_ms = EVERY_MS - (client.elapsed() - self._began_ms) % EVERY_MS
            await client.sleep(tick_ms, "retry node status")
            return
        waits = [] if self._eviction is None else [self._eviction.changed.get()]
        if self._repeats:
            waits.append(client.sleep(REPORT_MS, "report node status"))
        await client.first(*waits)
        phase_ms = (client.elapsed() - self._began_ms) % EVERY_MS
        if phase_ms and self._is_ticked:
            await client.sleep(EVERY_MS - phase_ms, "write node status")


def _apart_from_time(status: NodeStatus) -> object:
    """What this writes into a status, without the times of its conditions."""
    said = [(each.type, each.status, each.reason, each.message) for each in status.conditions]
    return status.allocatable, said
