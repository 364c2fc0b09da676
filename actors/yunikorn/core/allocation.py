"""Allocation: an ask of an application, and what becomes of it once it has a node (YK-1)."""

from __future__ import annotations

import attrs

from actors.yunikorn.amounts import Amounts
from actors.yunikorn.messages import AllocationRequest


@attrs.define(eq=False)
class Allocation:
    """One pod, as the core knows it: it is asked for first, and allocated from then on."""

    request: AllocationRequest
    """What the shim has told of it."""
    node: str = ""
    """Where it is allocated; empty as long as it is only asked for."""
    is_preempted: bool = False
    """Whether it was chosen as a victim, and the shim was told to end it (YK-28)."""
    has_triggered: bool = False
    """Whether victims were released for it (YK-12)."""
    releases: int = 0
    """How often victims were released for it."""
    has_workflow: bool = False
    """Whether a preemption workflow is to run for it, or has run and found victims (YK-11)."""

    @property
    def key(self) -> str:
        """The uid of its pod."""
        return self.request.key

    @property
    def amounts(self) -> Amounts:
        """What it asks for, or holds."""
        return self.request.amounts

    @property
    def awaits_workflow(self) -> bool:
        """Whether a preemption workflow is to run for it, and has not."""
        return self.has_workflow and not self.has_triggered

    @property
    def is_allocated(self) -> bool:
        """Whether it has a node."""
        return bool(self.node)


@attrs.frozen
class Reservation:
    """A node that is kept for an ask until it has room for it."""

    key: str
    """The ask."""
    pod: str
    """The pod of it, as people name it."""
    app: str
    """Its application."""
    node: str
    """The node."""
    created_ms: int
    """When it was made (YK-9)."""
    is_required: bool
    """Whether the ask requires that node."""
