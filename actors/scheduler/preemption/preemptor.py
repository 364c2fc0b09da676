"""Preemptor: a pod that fits nowhere and wants room, with what is the same for every node."""

from __future__ import annotations

from collections.abc import Callable

import attrs

from actors.framework.podinfo import PodInfo
from actors.scheduler.preemption.importance import ByImportance, by_importance, outranked_by
from actors.scheduler.switches import SchedulerSwitches


@attrs.frozen
class Preemptor:
    """What one preemption shares. Made once for each cycle that preempts."""

    pod: PodInfo
    """The pod that room is made for."""
    now_ms: int
    """The time of the cycle: a pod that has not started counts as started now."""
    switches: SchedulerSwitches
    may_go: Callable[[PodInfo], bool]
    """Whether another pod is a potential victim."""
    by_importance: ByImportance
    """Sorts pods, the one to be reprieved first in front."""

    @classmethod
    def of(cls, pod: PodInfo, switches: SchedulerSwitches, now_ms: int) -> Preemptor:
        """The preemptor that this pod is under these switches."""
        return cls(
            pod,
            now_ms,
            switches,
            outranked_by(pod.pod, switches),
            by_importance(switches, pod.pod, now_ms),
        )
