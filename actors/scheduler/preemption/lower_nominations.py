"""Lower nominations: which less important pods lose their nomination to the chosen node."""

from __future__ import annotations

from collections.abc import Sequence

from actors.framework.podinfo import PodInfo
from actors.scheduler.placing.feasibility import Feasibility
from actors.scheduler.preemption.trial import trial_of


def lower_nominated(
    feasibility: Feasibility, node: str, victims: Sequence[PodInfo], clear_lower: str
) -> tuple[PodInfo, ...]:
    """The pods nominated to that node that lose it if these victims go (SCH-100).

    With the switch `all`, every less important pod; with `only_if_unfit`, those that would not fit
    beside the preemptor.
    """
    pod = feasibility.pod
    nominated = feasibility.judging.nominated.get(node)
    if nominated is None:
        return ()
    lower = [info for info in nominated if info.priority < pod.priority]
    if clear_lower == "all":
        return tuple(lower)
    # The most important is asked first: one that stays leaves less room for those after it.
    staying = [info for info in nominated if info.priority >= pod.priority and info.uid != pod.uid]
    lost: list[PodInfo] = []
    for info in sorted(lower, key=lambda info: -info.priority):
        trial = trial_of(feasibility.judging.of(info, {node: staying}), node)
        for victim in victims:
            trial.remove(victim, victim.pod.spec.node_name)
        trial.add(pod)
        (staying if trial.fits() else lost).append(info)
    return tuple(info for info in lower if info in lost)
