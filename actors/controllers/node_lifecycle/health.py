"""Health: when a controller last heard of a node, and what it takes a silent node for.

The times are those at which the controller noticed something, by its own clock. What a heartbeat
itself says of the time is only compared with what the one before has said.
"""

from __future__ import annotations

import attrs

from actors.controllers.node_lifecycle.taints import READY, ready_of
from testbed.objects import Condition, Node, condition
from testbed.objects.calendar import whole_second
from testbed.objects.condition import UNKNOWN

POSTED = (READY, "MemoryPressure", "DiskPressure", "PIDPressure")
"""The conditions that only a kubelet can post: they become Unknown once it is silent."""


@attrs.frozen
class Health:
    """What is known of the heartbeats of one node."""

    probed_ms: int
    """When the last heartbeat was noticed."""
    ready: Condition | None
    """The condition Ready as it was noticed then."""
    renewed_ms: int | None = None
    """The time that its Lease said then."""
    is_implied: bool = False
    """Whether its Lease says that it lives as long as nothing says otherwise."""
    is_heard: bool = False
    """Whether there ever was a heartbeat: a Lease that was renewed, or Ready with the time of one.
    If not, nobody plays the heartbeats of this node, and its silence says nothing."""

    def digest(self, now_ms: int, cap_ms: int) -> object:
        """What the next look depends on: Ready, how long the node has been silent, and whether it
        was ever heard. Silence longer than `cap_ms` makes no difference."""
        ready = None if self.ready is None else self.ready.status
        silent_ms = 0 if self.is_implied else now_ms - self.probed_ms
        return min(silent_ms, cap_ms + 1), ready, self.is_heard


def noticed(
    before: Health | None, node: Node, renewed_ms: int | None, now_ms: int, age_ms: int
) -> Health:
    """The Health of a node after a look at it and at its Lease (CTL-30). A node that never posted
    Ready counts from its creation (CTL-31); all else counts from when it was noticed."""
    ready = ready_of(node)
    if before is None:
        health = Health(now_ms - age_ms if ready is None else now_ms, ready)
    elif _has_beaten(before.ready, ready):
        health = Health(now_ms, ready, before.renewed_ms)
    else:
        health = attrs.evolve(before, ready=ready)
    if renewed_ms is not None and (health.renewed_ms is None or health.renewed_ms < renewed_ms):
        health = attrs.evolve(health, probed_ms=now_ms, renewed_ms=renewed_ms)
    is_heard = health.renewed_ms is not None or (
        ready is not None and ready.heartbeat_ms is not None
    )
    was_heard = before is not None and before.is_heard
    return attrs.evolve(health, is_heard=is_heard or was_heard)


def silenced(node: Node, now_ms: int) -> Node:
    """The node with Unknown for all that only its kubelet could tell (CTL-32)."""
    conditions, second_ms = node.status.conditions, whole_second(now_ms)
    for kind in POSTED:
        old = condition.find(conditions, kind)
        if old is None:
            new = Condition(
                kind, UNKNOWN, "NodeStatusNeverUpdated", "Kubelet never posted node status.",
                second_ms, node.meta.created_ms,
            )  # fmt: skip
            conditions = (*conditions, new)
        elif old.status != UNKNOWN:
            new = attrs.evolve(
                old, status=UNKNOWN, reason="NodeStatusUnknown",
                message="Kubelet stopped posting node status.", since_ms=second_ms,
            )  # fmt: skip
            conditions = tuple(new if each is old else each for each in conditions)
    if conditions == node.status.conditions:
        return node
    return attrs.evolve(node, status=attrs.evolve(node.status, conditions=conditions))


def _has_beaten(old: Condition | None, new: Condition | None) -> bool:
    """Whether a kubelet has posted the condition since. That its status is another one is no sign
    of that: a controller may have changed it."""
    if old is None or new is None:
        return old is not new
    return old.heartbeat_ms != new.heartbeat_ms
