"""Which of two pods is more important: whom a preemptor outranks, and whom it spares first."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from actors.scheduler.podinfo import PodInfo
from actors.scheduler.switches import Switches
from testbed.objects import Pod
from testbed.objects.pod import BEST_EFFORT, BURSTABLE, GUARANTEED

QUALITY = {GUARANTEED: 0, BURSTABLE: 1, BEST_EFFORT: 2}
"""The less, the more important."""
Key = Callable[[PodInfo], Any]
"""What pods are sorted by, the most important first."""


def started_ms(pod: Pod, now_ms: int) -> int:
    """When its kubelet took it on; now, if none has (SCH-82)."""
    start_ms = pod.status.start_ms
    return now_ms if start_ms is None else start_ms


def quality(pod: Pod) -> int:
    """How it ranks by its quality of service."""
    return QUALITY.get(pod.status.qos_class, QUALITY[BEST_EFFORT])


def outranked_by(pod: Pod, *, hostile: bool = False) -> Callable[[PodInfo], bool]:
    """Which others a pod may make go: those of lower priority (SCH-79).

    A hostile scheduler outranks also whatever another one has placed.
    """
    priority, owner = pod.priority, pod.spec.scheduler_name
    if not hostile:
        return lambda other: other.priority < priority
    return lambda other: other.priority < priority or other.pod.spec.scheduler_name != owner


def importance(switches: Switches, pod: Pod, now_ms: int) -> Key:
    """What sorts the pods of a node, the one first that is to be spared first (SCH-82, SCH-83).

    The sort is stable: what is equal stays in the order in which it came to the node.
    """
    key = TIES[switches.victim_tiebreak](now_ms)
    if switches.victim_last_tie == "name":
        key = _then_by_name(key)
    return _ours_first(key, pod.spec.scheduler_name) if switches.hostile else key


def _by_start(now_ms: int) -> Key:
    def key(other: PodInfo) -> tuple[int, int]:
        start_ms = other.pod.status.start_ms
        return -other.priority, now_ms if start_ms is None else start_ms

    return key


def _by_quality(now_ms: int) -> Key:
    return lambda other: (-other.priority, quality(other.pod))


def _by_quality_and_start(now_ms: int) -> Key:
    return lambda other: (-other.priority, quality(other.pod), started_ms(other.pod, now_ms))


def _by_priority(now_ms: int) -> Key:
    return lambda other: -other.priority


TIES = {
    "start_time": _by_start,
    "qos": _by_quality,
    "qos_then_start": _by_quality_and_start,
    "none": _by_priority,
}
"""What decides between pods of one priority (D-1)."""


def _then_by_name(key: Key) -> Key:
    return lambda other: (key(other), other.pod.meta.namespace, other.pod.meta.name)


def _ours_first(key: Key, owner: str) -> Key:
    return lambda other: (other.pod.spec.scheduler_name != owner, key(other))
