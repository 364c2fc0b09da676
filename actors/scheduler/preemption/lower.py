"""Lower nominations: which less important pods lose the room that was made for them."""

from __future__ import annotations

from collections.abc import Sequence

from actors.framework.podinfo import PodInfo
from actors.scheduler.placing.feasibility import Feasibility
from actors.scheduler.preemption.trial import trial_of


def lower_nominated(
    feasibility: Feasibility, node: str, victims: Sequence[PodInfo], clear_lower: str
) -> tuple[PodInfo, ...]:
    """Those nominated to that node that lose that, if these pods go for this one (SCH-100).

    All that are less important, or, with `only_if_unfit`, those that would not fit there any more;
    the most important first, as those that stay leave less for the others.
    """
    pod = feasibility.pod
    there = feasibility.judging.nominated.get(node, ())
    lower = [info for info in there if info.priority < pod.priority]
    if clear_lower == "all":
        return tuple(lower)
    staying = [info for info in there if info.priority >= pod.priority and info.uid != pod.uid]
    lost: list[PodInfo] = []
    for info in sorted(lower, key=lambda info: -info.priority):
        trial = trial_of(feasibility.judging.of(info, {node: staying}), node)
        for victim in victims:
            trial.remove(victim, victim.pod.spec.node_name)
        trial.add(pod)
        (staying if trial.fits() else lost).append(info)
    return tuple(info for info in lower if info in lost)
