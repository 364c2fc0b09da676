"""Signals: what a kubelet measures to know that its node runs short (KUB-24)."""

from __future__ import annotations

from collections.abc import Mapping

import attrs

from testbed.objects import Map, Pod, Quantity
from testbed.objects.quantity import NANO, whole

MEMORY, DISK, INODES, PIDS = "memory", "ephemeral-storage", "inodes", "pids"
"""The resources that a node can run short of, as messages name them."""
MEMORY_PRESSURE, DISK_PRESSURE, PID_PRESSURE = "MemoryPressure", "DiskPressure", "PIDPressure"
PRESSURES = (MEMORY_PRESSURE, DISK_PRESSURE, PID_PRESSURE)
"""The conditions of a node that runs short, in order."""
AVAILABLE, ALLOCATABLE = "memory.available", "allocatableMemory.available"
RESOURCES = {
    AVAILABLE: MEMORY,
    ALLOCATABLE: MEMORY,
    "nodefs.available": DISK,
    "nodefs.inodesFree": INODES,
    "imagefs.available": DISK,
    "imagefs.inodesFree": INODES,
    "pid.available": PIDS,
}
"""The resource of each signal. There is one file system, for pods and images."""
CONDITIONS = {
    MEMORY: MEMORY_PRESSURE,
    DISK: DISK_PRESSURE,
    INODES: DISK_PRESSURE,
    PIDS: PID_PRESSURE,
}


@attrs.frozen
class Observation:
    """One signal as it was measured."""

    available: int
    """How much is left; 0 if more is used than there is."""
    capacity: int
    """How much there is."""
    at_ms: int
    """When it was measured."""


@attrs.frozen
class PodUse:
    """What one pod uses."""

    pod: Pod
    used: Map[int] | None
    """By resource, in whole units; None: there are no statistics of it."""


def measured(
    capacity: Mapping[str, int],
    taken: Mapping[str, int],
    pods: Mapping[str, int],
    allocatable: int,
    now_ms: int,
) -> dict[str, Observation]:
    """The signals of a node with this capacity. `taken` is what all that runs there uses, `pods`
    the part of it that pods use, and `allocatable` the memory that pods may use together."""
    found = {
        signal: Observation(max(capacity[of] - taken.get(of, 0), 0), capacity[of], now_ms)
        for signal, of in RESOURCES.items()
        if of in capacity and signal != ALLOCATABLE
    }
    if MEMORY in capacity:
        left = max(allocatable - pods.get(MEMORY, 0), 0)
        found[ALLOCATABLE] = Observation(left, allocatable, now_ms)
    return found


def shown(resource: str, amount: int) -> Quantity:
    """An amount of a resource as messages show it: bytes with binary suffixes."""
    return whole(amount) if resource in (MEMORY, DISK) else Quantity(amount * NANO)
