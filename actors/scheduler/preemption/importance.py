"""Which of two pods is more important: whom a preemptor outranks, and whom it spares first."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from actors.framework.podinfo import PodInfo
from actors.scheduler.switches import SchedulerSwitches
from testbed.objects import Pod
from testbed.objects.pod import BEST_EFFORT, BURSTABLE, GUARANTEED

QUALITY = {GUARANTEED: 0, BURSTABLE: 1, BEST_EFFORT: 2}
"""The less, the more important."""
ByImportance = Callable[[Iterable[PodInfo]], list[PodInfo]]
"""Sorts pods, the most important first; those that are equal by the order they are given in."""
Rank = Sequence[int | str]


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


def by_importance(switches: SchedulerSwitches, pod: Pod, now_ms: int) -> ByImportance:
    """What sorts pods, the one first that is to be spared first (SCH-82, SCH-83)."""
    tie = TIES[switches.victim_tiebreak](now_ms)
    last_tie = LAST_TIES[switches.victim_last_tie]
    owner = pod.spec.scheduler_name if switches.hostile else None
    counts_starts = switches.victim_tiebreak in ("start_time", "qos_then_start")

    def rank(placed: tuple[int, PodInfo]) -> tuple[bool, int, Rank, Rank]:
        place, other = placed
        is_foreign = owner is not None and other.pod.spec.scheduler_name != owner
        if counts_starts and other.pod.status.start_ms is None:
            place = -place
        return is_foreign, -other.priority, tie(other.pod), last_tie(other.pod, place)

    return lambda pods: [info for _, info in sorted(enumerate(pods), key=rank)]


def _by_start(now_ms: int) -> Callable[[Pod], Rank]:
    """Who has not started has started later than all who have.

    Of two of those the real one takes either for the older: whenever it compares two it asks the
    clock for the first, then for the second. Its sort puts each in turn before all it is older
    than, so the last of them comes first.
    """
    return lambda pod: (started_ms(pod, now_ms), pod.status.start_ms is None)


def _by_quality(now_ms: int) -> Callable[[Pod], Rank]:
    return lambda pod: (quality(pod),)


def _by_quality_and_start(now_ms: int) -> Callable[[Pod], Rank]:
    by_start = _by_start(now_ms)
    return lambda pod: (quality(pod), *by_start(pod))


def _by_priority(now_ms: int) -> Callable[[Pod], Rank]:
    return lambda pod: ()


TIES = {
    "start_time": _by_start,
    "qos": _by_quality,
    "qos_then_start": _by_quality_and_start,
    "none": _by_priority,
}
"""What decides between pods of one priority (D-1)."""
LAST_TIES: dict[str, Callable[[Pod, int], Rank]] = {
    "added": lambda pod, place: (place,),
    "name": lambda pod, place: (pod.meta.namespace, pod.meta.name),
}
"""What decides between those that are equal otherwise."""
