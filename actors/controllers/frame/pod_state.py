"""Pod state: whether a pod is over, ready, active, available, as controllers count it.

A Pod says some of that itself. But its properties are no fields that a Cache can declare: what is
asked here reads the fields of `READS`, and no other.
"""

from __future__ import annotations

from collections.abc import Iterable

from testbed.objects import Condition, Pod
from testbed.objects.condition import find
from testbed.objects.pod import FAILED, SUCCEEDED

READS = (
    "meta.annotations", "meta.created_ms", "meta.deleted_ms", "meta.labels", "meta.owners",
    "spec.node_name", "status.conditions", "status.container_statuses", "status.phase",
)  # fmt: skip
"""The fields of its pods that a controller looks at."""


def is_terminating(pod: Pod) -> bool:
    """Whether its deletion was requested."""
    return pod.meta.deleted_ms is not None


def is_over(pod: Pod) -> bool:
    """Whether it has ended for good."""
    return pod.status.phase in (SUCCEEDED, FAILED)


def is_active(pod: Pod) -> bool:
    """Whether it counts as one of those that are wanted: neither over nor terminating (CTL-3)."""
    return pod.meta.deleted_ms is None and pod.status.phase not in (SUCCEEDED, FAILED)


def ready_since_ms(pod: Pod) -> int | None:
    """Since when it has been ready; None if it is not."""
    ready = readiness(pod)
    return ready.since_ms or 0 if ready is not None and ready.status == "True" else None


def readiness(pod: Pod) -> Condition | None:
    """Its condition Ready, if it has one."""
    return find(pod.status.conditions, "Ready")


def is_ready(pod: Pod) -> bool:
    """Whether it is ready."""
    return ready_since_ms(pod) is not None


def is_available(pod: Pod, min_ready_s: int, now_ms: int) -> bool:
    """Whether it has been ready for that long."""
    since_ms = ready_since_ms(pod)
    return since_ms is not None and (not min_ready_s or since_ms + 1000 * min_ready_s <= now_ms)


def available_in_ms(pods: Iterable[Pod], min_ready_s: int, now_ms: int) -> int:
    """How long until the next of these pods becomes available; 0 if none is about to."""
    since = (ready_since_ms(pod) for pod in pods if not is_available(pod, min_ready_s, now_ms))
    due = [since_ms + 1000 * min_ready_s - now_ms for since_ms in since if since_ms is not None]
    return min(due, default=0)


def restarts(pod: Pod) -> int:
    """How often its containers were restarted: the highest count of any of them."""
    return max((each.restart_count for each in pod.status.container_statuses), default=0)
