"""Application: pods that belong together, in one queue: their asks, allocations, reservations."""

from __future__ import annotations

import attrs

from actors.yunikorn.core.allocation import Allocation, Reservation
from actors.yunikorn.core.queue import CoreQueue


@attrs.define(eq=False)
class Application:
    """All pods with one application id."""

    id: str
    queue: CoreQueue
    nth: int
    """How many applications were submitted before; the earliest is served first."""
    asks: dict[str, Allocation] = attrs.field(factory=dict)
    """By key, what is asked for and not allocated yet."""
    allocations: dict[str, Allocation] = attrs.field(factory=dict)
    """By key, what is allocated."""
    reservations: dict[str, Reservation] = attrs.field(factory=dict)
    """By ask, the node that is kept for it."""

    def in_order(self) -> list[Allocation]:
        """Its asks in the order in which they are tried: by priority, then the oldest first."""
        by_age = sorted(self.asks.values(), key=lambda each: each.request.created_ms)
        return sorted(by_age, key=lambda each: -each.request.priority)
