"""Beliefs: what one life of a scheduler holds true, ahead of what its informers have shown."""

from __future__ import annotations

from collections.abc import Iterable

import attrs

from actors.framework.cluster_events import wakes_of
from actors.framework.filter import Filter
from actors.framework.filters import FILTERS
from actors.scheduler.cluster.cache import SchedulerCache
from actors.scheduler.cluster.nominator import Nominator
from actors.scheduler.memory.permit import PermitWait
from actors.scheduler.placing.avoid import Evictions
from actors.scheduler.queue.fifo import FifoQueue
from actors.scheduler.queue.priority_queue import SchedulingQueue
from actors.scheduler.queue.queued import PodQueue
from actors.scheduler.switches import SchedulerSwitches

USUAL_WAKES = wakes_of(FILTERS)
"""The events that each of the filters waits for that every scheduler has."""


@attrs.define(eq=False)
class Beliefs:
    """Where pods are, where they are to go, and where they wait."""

    cache: SchedulerCache
    """The nodes and their pods, assumed ones included."""
    nominator: Nominator
    """The pods that room was made for, each with its node."""
    queue: PodQueue
    """The pods that have no node."""
    evictions: Evictions | None
    """Which nodes have evicted pods lately; None if that does not matter."""
    waiting: dict[str, PermitWait] = attrs.field(factory=dict)
    """The pods that wait for Permit plugins, by uid."""


def queue_of(
    nominator: Nominator, switches: SchedulerSwitches, filters: Iterable[Filter]
) -> PodQueue:
    """An empty queue of the kind that the switches name."""
    if switches.queue == "fifo":
        return FifoQueue(nominator, switches)
    wakes = USUAL_WAKES if filters is FILTERS else wakes_of(filters)
    return SchedulingQueue(nominator, wakes, switches)
