"""Settings of eviction: thresholds, times and grace, as in the configuration of a kubelet."""

from __future__ import annotations

from collections.abc import Mapping

import attrs

from actors.kubelet.eviction.signals import AVAILABLE, MEMORY
from actors.kubelet.eviction.threshold import HARD, Threshold, with_allocatable
from actors.shared.settings import at_least
from testbed.objects import Map
from testbed.objects.quantity import Quantity, amounts

ZERO = Quantity(0)
KEPT_FREE = (AVAILABLE, "nodefs.available")
"""The signals whose hard thresholds pods may not request."""


@attrs.frozen
class EvictionSettings:
    """How a kubelet keeps its node from running short."""

    thresholds: tuple[Threshold, ...] = HARD
    """When the node is short of something. A kubelet on Linux has `memory.available` 100Mi,
    `nodefs.available` 10%, `nodefs.inodesFree` 5% and `imagefs.available` 15%."""
    every_ms: int = attrs.field(default=10_000, validator=at_least(1))
    """How often it looks (KUB-29)."""
    transition_ms: int = attrs.field(default=300_000, validator=at_least(0))
    """How long a condition stays after it was last observed (KUB-38)."""
    max_pod_grace_s: int = attrs.field(default=0, validator=at_least(0))
    """The longest grace at a soft threshold."""
    system: Map[Quantity] = attrs.field(factory=Map, converter=amounts)
    """What is used beside pods, by resource."""
    pids: int = attrs.field(default=32_768, validator=at_least(0))
    """How many processes there may be on the node."""
    inodes: int = attrs.field(default=1_000_000, validator=at_least(0))
    """How many files there may be on the node."""

    @property
    def all_thresholds(self) -> tuple[Threshold, ...]:
        """These, and those of `allocatableMemory.available`."""
        return with_allocatable(self.thresholds)

    def allocatable(self, memory: int, has: int) -> int:
        """How much memory pods may use together, on a node with `memory` allocatable of a capacity
        of `has`. The hard threshold is added: that part is theirs, too (KUB-25)."""
        hard = [
            each.value.of(has).whole
            for each in self.thresholds
            if each.resource == MEMORY and each.is_hard
        ]
        return min(memory + max(hard, default=0), has)


def allocatable_of(
    capacity: Mapping[str, Quantity], reserved: Mapping[str, Quantity], eviction: EvictionSettings
) -> Map[Quantity]:
    """What pods may request: the capacity without what is reserved for the system and without what
    the hard thresholds keep free (KUB-46)."""
    kept: dict[str, int] = {}
    for each in eviction.thresholds:
        amount = capacity.get(each.resource)
        if each.is_hard and amount is not None and each.signal in KEPT_FREE:
            least = each.value.of(amount.whole).nano
            kept[each.resource] = max(kept.get(each.resource, 0), least)
    return Map(
        {
            name: attrs.evolve(
                amount,
                nano=max(amount.nano - reserved.get(name, ZERO).nano - kept.get(name, 0), 0),
            )
            for name, amount in capacity.items()
        }
    )
