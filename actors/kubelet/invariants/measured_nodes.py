"""Measured nodes: what a claim knows of a node when its kubelet has just looked.

The figures are the World's, from the runtime and the Store, and not what the kubelet believes.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import attrs

from actors.kubelet.evictor import Evictor
from actors.kubelet.invariants.on_nodes import News, runtime_at
from actors.kubelet.kubelet import Kubelet
from actors.kubelet.meter import Used
from actors.kubelet.switches import KubeletSwitches
from testbed import Evidence
from testbed.turns.trace import Record

LOOKED, EVICTING = "looked", "evicting"


@attrs.frozen
class MeasuredNode:
    """One record of an evictor, and its node at that moment."""

    record: Record
    life: tuple[str, int]
    """The kubelet, and which life of it."""
    kubelet: Kubelet
    switches: KubeletSwitches
    evictor: Evictor
    """What it shows; only its settings, and which pods it knows, are taken from it."""
    used: dict[str, Used]
    """By uid, what the pods use."""
    has: dict[str, int]
    """What the node has, by resource."""
    room: int
    """How much memory it offers to pods."""
    images: int

    def available(self, signal: str) -> int | None:
        """How much is left of a signal; None if the node does not have it."""
        name, settings = RESOURCE[signal], self.evictor.settings
        if name not in self.has:
            return None
        pods = sum(each.amounts.get(name, 0) for each in self.used.values() if each.amounts)
        if signal == "allocatableMemory.available":
            return max(settings.allocatable(self.room, self.has[name]) - pods, 0)
        system = settings.system.get(name)
        taken = pods + (system.whole if system is not None else 0)
        taken += self.images if name == "ephemeral-storage" else 0
        return max(self.has[name] - taken, 0)


RESOURCE = {
    "memory.available": "memory",
    "allocatableMemory.available": "memory",
    "nodefs.available": "ephemeral-storage",
    "imagefs.available": "ephemeral-storage",
    "nodefs.inodesFree": "inodes",
    "imagefs.inodesFree": "inodes",
    "pid.available": "pids",
}


class Records:
    """The records of evictors that a claim has not seen yet."""

    def __init__(self) -> None:
        self._news = News()

    def new(self, evidence: Evidence) -> Iterator[MeasuredNode]:
        """Each new one, with its node as it is now: at the end of the turn that wrote it."""
        for record in self._news.of(evidence, LOOKED, EVICTING):
            found = _measured(record, evidence)
            if found is not None:
                yield found


def _measured(record: Record, evidence: Evidence) -> MeasuredNode | None:
    role: Any = evidence.table.roles.get(record.path.partition("/")[0])
    evictor = None if role is None else role.life.shown.get("eviction")
    if not isinstance(evictor, Evictor):
        return None
    kubelet = role.actor
    entry: Any = evidence.store.peek(f"nodes/{kubelet.node}")
    if entry is None:
        return None
    status, settings = entry.value.status, evictor.settings
    has = {name: amount.whole for name, amount in status.capacity.items()}
    runtime = runtime_at(evidence, kubelet.node)
    if runtime is None:
        return None
    now = runtime.stats(evidence.now_ms)
    room = status.allocatable.get("memory")
    return MeasuredNode(
        record, (role.name, role.life.number), kubelet, role.switches, evictor, dict(now.pods),
        {**has, "pids": settings.pids, "inodes": settings.inodes},
        has.get("memory", 0) if room is None else room.whole, now.images,
    )  # fmt: skip
