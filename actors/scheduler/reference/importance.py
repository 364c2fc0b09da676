"""Importance: which pods may be victims, and which of them are reprieved first."""

from __future__ import annotations

from collections.abc import Iterable

from actors.scheduler.reference.cluster import Cluster, Guest
from actors.scheduler.switches import SchedulerSwitches
from testbed.objects import Pod
from testbed.objects.pod import BEST_EFFORT, BURSTABLE, GUARANTEED

QUALITIES = (GUARANTEED, BURSTABLE, BEST_EFFORT)


def may_displace(pod: Pod, other: Pod, switches: SchedulerSwitches) -> bool:
    """Whether a pod may preempt another one (SCH-79, CTL-56). To a hostile scheduler all pods of
    other schedulers are less important."""
    ours, theirs = standing(pod, switches), standing(other, switches)
    return theirs < ours or is_foreign(pod, other, switches)


def standing(pod: Pod, switches: SchedulerSwitches) -> tuple[int, int]:
    """What is compared first of two pods, the larger the more important: the QoS class, if that
    comes first, and the priority."""
    grade = -QUALITIES.index(pod.status.qos_class or BEST_EFFORT)
    return grade if switches.victim_primary == "qos" else 0, pod.priority


def is_foreign(pod: Pod, other: Pod, switches: SchedulerSwitches) -> bool:
    """Whether another pod is of another scheduler, and this one is hostile to those."""
    return switches.hostile and pod.spec.scheduler_name != other.spec.scheduler_name


def by_importance(
    guests: Iterable[Guest], pod: Pod, cluster: Cluster, switches: SchedulerSwitches
) -> list[Guest]:
    """The pods in order, the most important first: by priority, then as the switches say (SCH-82,
    SCH-83)."""
    # A pod without a start time counts as started now, behind all that have started. Among those
    # without one, the last added is the most important: hence the negative number.
    tiebreak = switches.victim_tiebreak

    def key(numbered: tuple[int, Guest]) -> tuple[int | str, ...]:
        number, other = numbered[0], numbered[1].pod
        is_timed = "start" in tiebreak
        waits = is_timed and other.status.start_ms is None
        quality = other.status.qos_class or BEST_EFFORT
        named = switches.victim_last_tie == "name"
        return (
            is_foreign(pod, other, switches),
            *(-part for part in standing(other, switches)),
            QUALITIES.index(quality) if "qos" in tiebreak else 0,
            started(other, cluster) if is_timed else 0,
            waits,
            other.meta.namespace if named else "",
            other.meta.name if named else "",
            -number if waits else number,
        )

    return [each for _, each in sorted(enumerate(guests), key=key)]


def started(pod: Pod, cluster: Cluster) -> int:
    """When the kubelet started it; the current time if it has not."""
    return cluster.now_ms if pod.status.start_ms is None else pod.status.start_ms
