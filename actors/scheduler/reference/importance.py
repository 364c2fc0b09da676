"""Which of two pods is more important: who may be displaced by whom, and who is spared first."""

from __future__ import annotations

from collections.abc import Iterable

from actors.scheduler.reference.cluster import Cluster, Guest
from actors.scheduler.switches import SchedulerSwitches
from testbed.objects import Pod
from testbed.objects.pod import BEST_EFFORT, BURSTABLE, GUARANTEED

QUALITIES = (GUARANTEED, BURSTABLE, BEST_EFFORT)


def may_displace(pod: Pod, other: Pod, switches: SchedulerSwitches) -> bool:
    """Whether it is more important (SCH-79); to a hostile scheduler its own pods are more important
    than any of another."""
    return other.priority < pod.priority or (switches.hostile and not _are_kin(pod, other))


def _are_kin(pod: Pod, other: Pod) -> bool:
    return pod.spec.scheduler_name == other.spec.scheduler_name


def by_importance(
    guests: Iterable[Guest], pod: Pod, cluster: Cluster, switches: SchedulerSwitches
) -> list[Guest]:
    """The most important first: by priority, then as the switches say (SCH-82, SCH-83). One that
    has not started counts for more than those before it which have not, either."""
    tiebreak = switches.victim_tiebreak

    def key(numbered: tuple[int, Guest]) -> tuple[int | str, ...]:
        number, other = numbered[0], numbered[1].pod
        is_timed = "start" in tiebreak
        waits = is_timed and other.status.start_ms is None
        quality = other.status.qos_class or BEST_EFFORT
        named = switches.victim_last_tie == "name"
        return (
            switches.hostile and not _are_kin(pod, other),
            -other.priority,
            QUALITIES.index(quality) if "qos" in tiebreak else 0,
            started(other, cluster) if is_timed else 0,
            waits,
            other.meta.namespace if named else "",
            other.meta.name if named else "",
            -number if waits else number,
        )

    return [each for _, each in sorted(enumerate(guests), key=key)]


def started(pod: Pod, cluster: Cluster) -> int:
    """When its kubelet took it on; now, if none has said so."""
    return cluster.now_ms if pod.status.start_ms is None else pod.status.start_ms
