"""Readiness: whether a node is ready, and how many nodes of a group are (CA-4, CA-22)."""

from __future__ import annotations

import attrs

from testbed.objects import Node
from testbed.objects.calendar import whole_second
from testbed.objects.condition import FALSE, TRUE, UNKNOWN

STARTUP_MS = 900_000
"""How long after its creation a node that is not ready counts as one that still starts (T-43)."""
TO_BE_DELETED = "ToBeDeletedByClusterAutoscaler"
"""The taint of a node that the autoscaler is deleting."""
CANDIDATE = "DeletionCandidateOfClusterAutoscaler"
"""The soft taint of a node that it may delete before long."""
BAD = {"DiskPressure", "NetworkUnavailable"}
NOT_READY_TAINTS = {
    f"node.kubernetes.io/{name}" for name in ("not-ready", "disk-pressure", "network-unavailable")
}
IGNORED_PREFIX = "ignore-taint.cluster-autoscaler.kubernetes.io/"
"""A node with such a taint counts as not ready, and new nodes are taken not to have it."""


def is_ready(node: Node) -> bool:
    """Whether pods can run there, as the autoscaler sees it. A node that has never said that it is
    ready is not."""
    has_said = False
    for each in node.status.conditions:
        if each.type == "Ready":
            if each.status in (FALSE, UNKNOWN):
                return False
            has_said = True
        elif each.type in BAD and each.status == TRUE:
            return False
    keys = [taint.key for taint in node.spec.taints]
    return has_said and NOT_READY_TAINTS.isdisjoint(keys) and not is_ignored(node)


def is_ignored(node: Node) -> bool:
    """Whether it has a taint by which its owner says that it is not in use yet."""
    return any(taint.key.startswith(IGNORED_PREFIX) for taint in node.spec.taints)


def ready_since_ms(node: Node) -> int:
    """When its readiness last changed."""
    times = [each.since_ms or 0 for each in node.status.conditions if each.type in {"Ready", *BAD}]
    marks = [t.added_ms or 0 for t in node.spec.taints if t.key in NOT_READY_TAINTS]
    return max([*times, *marks], default=0)


def is_usable(node: Node) -> bool:
    """Whether it is ready and not cordoned."""
    return is_ready(node) and not node.spec.unschedulable


def has_taint(node: Node, key: str) -> bool:
    """Whether it has a taint with that key."""
    return any(taint.key == key for taint in node.spec.taints)


@attrs.define
class Readiness:
    """How many nodes are in which state."""

    ready: int = 0
    unready: int = 0
    """Not ready, and too old to be starting still."""
    deleted: int = 0
    """About to be deleted by the autoscaler; their group's target does not count them any more."""
    not_started: int = 0
    """Not ready, but young."""
    registered: int = 0
    """All that have a Node object."""
    long_unregistered: int = 0
    """Instances without a Node object for too long."""
    unregistered: int = 0
    """Instances without a Node object."""

    def count(self, node: Node, now_ms: int, *, is_deleted: bool) -> None:
        """Count one node."""
        self.registered += 1
        created_ms = whole_second(node.meta.created_ms or 0)
        if is_deleted:
            self.deleted += 1
        elif is_ready(node):
            self.ready += 1
        elif created_ms + STARTUP_MS > now_ms:
            self.not_started += 1
        else:
            self.unready += 1
