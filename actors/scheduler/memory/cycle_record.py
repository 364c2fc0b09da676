"""CycleRecord: the current cycle of a scheduling loop, and the inputs of its latest decision."""

from __future__ import annotations

import attrs

from actors.framework.snapshot import Snapshot
from actors.scheduler.decisions.decision import Decision
from actors.scheduler.queue.queued import QueuedPod
from testbed.objects import PodDisruptionBudget


@attrs.define(eq=False)
class CycleRecord:
    """Kept by the loop for Invariants: `role.life.shown["cycle"]`. After a turn that recorded a
    `cycle`, this is the state at the end of that cycle."""

    current: QueuedPod | None = None
    """The pod of the current cycle; None between two cycles."""
    decision: Decision | None = None
    """The latest decision."""
    snapshot: Snapshot | None = None
    """The cluster that it was made by."""
    budgets: tuple[PodDisruptionBudget, ...] = ()
    """The disruption budgets that it was made by."""
