"""Zones: how many nodes of a zone are not ready, and how fast they may then be tainted (CTL-33)."""

from __future__ import annotations

from collections.abc import Sequence

import attrs

from actors.shared.settings import at_least
from testbed.objects import Node

REGION, ZONE = "topology.kubernetes.io/region", "topology.kubernetes.io/zone"
EXCLUDED = "node.kubernetes.io/exclude-disruption"
"""A node with this label does not count in its zone."""
INITIAL, NORMAL, PARTIAL, FULL = "Initial", "Normal", "PartialDisruption", "FullDisruption"
FEW = 2
"""Up to this many nodes that are not ready are no partial disruption, however small the zone is."""


@attrs.frozen
class Pace:
    """How fast nodes are given the NoExecute taint that empties them."""

    interval_ms: int = attrs.field(default=10_000, validator=at_least(0))
    """The time between two nodes of a zone."""
    slow_interval_ms: int = attrs.field(default=100_000, validator=at_least(0))
    """The same in a large zone with a partial disruption."""
    unhealthy_pct: int = 55
    """From this percentage of nodes on that are not ready, a zone has a partial disruption."""
    large: int = 50
    """A zone with more nodes than this is large. In a small one, a partial disruption stops all."""

    def in_state(self, state: str, size: int) -> int | None:
        """The time between two nodes of a zone in that state; None: no node at all."""
        if state != PARTIAL:
            return self.interval_ms
        return self.slow_interval_ms if size > self.large else None

    def state_of(self, is_ready: Sequence[bool]) -> str:
        """The state of a zone, given of each of its nodes whether it is ready."""
        ready = sum(is_ready)
        unready = len(is_ready) - ready
        if not ready and unready:
            return FULL
        if unready > FEW and 100 * unready >= self.unhealthy_pct * len(is_ready):
            return PARTIAL
        return NORMAL


def zone_of(node: Node) -> str:
    """The zone of a node, by its labels; empty if it has none."""
    labels = node.meta.labels
    region, zone = labels.get(REGION, ""), labels.get(ZONE, "")
    return f"{region}:{zone}" if region or zone else ""
