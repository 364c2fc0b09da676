"""Importance: which pods a preemptor outranks, and which of two pods is reprieved first."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from actors.framework.podinfo import PodInfo
from actors.scheduler.switches import SchedulerSwitches
from testbed.objects import Pod
from testbed.objects.pod import BEST_EFFORT, BURSTABLE, GUARANTEED

QUALITY = {GUARANTEED: 0, BURSTABLE: 1, BEST_EFFORT: 2}
"""The rank of each quality-of-service class; the smaller, the more important."""
ByImportance = Callable[[Iterable[PodInfo]], list[PodInfo]]
"""Sorts pods, the most important first. Pods that are equal stay in the order given."""
Rank = Sequence[int | str]


def started_ms(pod: Pod, now_ms: int) -> int:
    """When the pod started, by its status; now, if it has not (SCH-82)."""
    start_ms = pod.status.start_ms
    return now_ms if start_ms is None else start_ms


def quality(pod: Pod) -> int:
    """The rank of the pod's quality-of-service class."""
    return QUALITY.get(pod.status.qos_class, QUALITY[BEST_EFFORT])


def outranked_by(pod: Pod, switches: SchedulerSwitches) -> Callable[[PodInfo], bool]:
    """Return whether another pod is a potential victim of this one: has lower priority (SCH-79), or
    a lower QoS class, if that comes first (CTL-56).

    A hostile scheduler also outranks all pods of other schedulers.
    """
    priority, owner = pod.priority, pod.spec.scheduler_name
    if switches.victim_primary == "qos":
        ours = (quality(pod), -priority)

        def is_lower(other: PodInfo) -> bool:
            return (quality(other.pod), -other.priority) > ours

    else:

        def is_lower(other: PodInfo) -> bool:
            return other.priority < priority

    if not switches.hostile:
        return is_lower
    return lambda other: is_lower(other) or other.pod.spec.scheduler_name != owner


def by_importance(switches: SchedulerSwitches, pod: Pod, now_ms: int) -> ByImportance:
    """Return what sorts pods so that the pod to be reprieved first is in front (SCH-82, SCH-83)."""
    tie = TIES[switches.victim_tiebreak](now_ms)
    last_tie = LAST_TIES[switches.victim_last_tie]
    owner = pod.spec.scheduler_name if switches.hostile else None
    counts_starts = switches.victim_tiebreak in ("start_time", "qos_then_start")
    is_by_class = switches.victim_primary == "qos"
    is_usual = (
        owner is None and not is_by_class
        and (switches.victim_tiebreak, switches.victim_last_tie) == ("start_time", "added")
    )  # fmt: skip

    def rank(placed: tuple[int, PodInfo]) -> tuple[bool, int, int, Rank, Rank]:
        place, other = placed
        is_foreign = owner is not None and other.pod.spec.scheduler_name != owner
        if counts_starts and other.pod.status.start_ms is None:
            place = -place  # see _by_start
        group = quality(other.pod) if is_by_class else 0
        return is_foreign, group, -other.priority, tie(other.pod), last_tie(other.pod, place)

    def sort(pods: Iterable[PodInfo]) -> list[PodInfo]:
        pods = list(pods)
        if is_usual and None not in [info.pod.status.start_ms for info in pods]:
            pods.sort(key=_usual_rank)
            return pods
        return [info for _, info in sorted(enumerate(pods), key=rank)]

    return sort


def _usual_rank(other: PodInfo) -> tuple[int, int | None]:
    """The rank under the switches of 1.26, of a pod that has started: to sort by it is four times
    as quick. A sort keeps the order of what is equal, so the place need not be in it."""
    return -other.priority, other.pod.status.start_ms


def _by_start(now_ms: int) -> Callable[[Pod], Rank]:
    """The earlier start is the more important. A pod that has not started comes after all others.

    Among pods that have not started, the last added is the most important. Kubernetes reads the
    clock for each of the two pods that it compares, the first one first, so the first always looks
    older. Its sort then puts each such pod before all earlier ones.
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
"""What decides between pods that are equal otherwise."""
