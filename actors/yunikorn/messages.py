"""What the shim and the core of YuniKorn tell each other, as plain data (YK-4).

The shim tells of nodes, of pods and of what has ended; the core answers later, with what it has
allocated and what it wants back. Each is a message: neither waits for the other.
"""

from __future__ import annotations

import attrs

from testbed.objects import Map, PodSpec, Taint

PREEMPTED, STOPPED = "PREEMPTED_BY_SCHEDULER", "STOPPED_BY_RM"
"""Why an allocation is released: for another ask, or because its pod is over."""
NO_SPEC = PodSpec()


@attrs.frozen
class NodeNews:
    """From the shim: how a node is now."""

    name: str
    """Its name."""
    room: Map[int]
    """All that pods may use of it, by resource."""
    labels: Map[str] = attrs.field(factory=Map)
    """Its labels: with its taints they decide which pods may be there."""
    taints: tuple[Taint, ...] = ()
    """Its taints."""
    is_schedulable: bool = True
    """Whether asks that do not require this node may be placed on it."""


@attrs.frozen
class AllocationRequest:
    """From the shim: a pod that wants a node, or one that has a node already (YK-1)."""

    key: str
    """The uid of the pod."""
    pod: str
    """The pod, as people name it."""
    app: str = ""
    """Its application; empty: a foreign pod, which another scheduler has placed."""
    queue: str = ""
    """The queue of its application, by its full path."""
    amounts: Map[int] = attrs.field(factory=Map)
    """What it asks for, by resource."""
    priority: int = 0
    """The larger the more important."""
    created_ms: int = 0
    """When the pod was created."""
    node: str = ""
    """Where it is already; empty: nowhere."""
    required_node: str = ""
    """The one node on which it may run: it is a DaemonSet pod (YK-2)."""
    is_originator: bool = False
    """Whether it is the first pod of its application: its driver, or owner."""
    allows_preemption: bool = True
    """Whether it does not opt out of being preempted by an annotation."""
    is_labelled: bool = False
    """Whether it has the label by which the design document lets it opt out (YK-2)."""
    owners: tuple[str, ...] = ()
    """The uids of the objects that own the pod."""
    spec: PodSpec = NO_SPEC
    """Which nodes it may be on."""


@attrs.frozen
class AllocationRelease:
    """From the shim: a pod is gone, or over, and so is its ask or allocation."""

    key: str
    """The uid of the pod."""
    why: str = STOPPED
    """The termination type that the core gave when it wanted it back, if it did (YK-30)."""


@attrs.frozen
class NewAllocation:
    """From the core: an ask has got a node."""

    key: str
    """The uid of the pod."""
    node: str
    """Where it is to be bound."""


@attrs.frozen
class ReleasedAllocation:
    """From the core: it wants an allocation back (YK-28)."""

    key: str
    """The uid of the pod."""
    why: str
    """The termination type."""
    message: str = ""
    """For whom, in a sentence."""
    ask: str = ""
    """The uid of the pod for which it is released, if there is one."""


@attrs.frozen
class CoreEvent:
    """From the core: something that people may want to read of a pod (YK-13)."""

    key: str
    """The uid of the pod."""
    reason: str
    """One word."""
    message: str
    """The same in a sentence."""


ToShim = NewAllocation | ReleasedAllocation | CoreEvent


@attrs.frozen
class CycleResult:
    """What one scheduling cycle has come to."""

    is_active: bool = False
    """Whether it has allocated something; then the next cycle comes at once."""
    again_in_ms: int | None = None
    """When another cycle may do something without any news; None: never."""
    told: int = 0
    """How many messages for the shim there were in this session."""
    reserved: tuple[str, ...] = ()
    """The pods whose asks have reserved a node."""
    workflows: tuple[str, ...] = ()
    """The asks for which a preemption workflow is to run beside the cycles (YK-11)."""
