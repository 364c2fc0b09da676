"""Lower nominations: which less important pods lose the room that was made for them."""

from __future__ import annotations

from collections.abc import Sequence

from actors.scheduler.filtering import Feasibility
from actors.scheduler.podinfo import PodInfo


def lower_nominated(
    feasibility: Feasibility, node: str, victims: Sequence[PodInfo], clear_lower: str
) -> tuple[PodInfo, ...]:
    """Those nominated to that node that lose that, if these pods go for this one (SCH-100).

    All that are less important, or, with `only_if_unfit`, those that would not fit there any more.
    """
    pod = feasibility.pod
    lower = [i for i in feasibility.nominated.get(node, ()) if i.priority < pod.priority]
    if clear_lower == "all":
        return tuple(lower)
    return tuple(info for info in lower if not _fits_beside(info, feasibility, node, victims))


def _fits_beside(
    info: PodInfo, feasibility: Feasibility, node: str, victims: Sequence[PodInfo]
) -> bool:
    """Whether it fits there without the victims and beside the pod they go for."""
    pod = feasibility.pod
    trial = feasibility.of(info, feasibility.nominated).trial(node)
    for victim in victims:
        trial.remove(victim, victim.pod.spec.node_name)
    if pod.uid not in {each.uid for each in feasibility.nominated.get(node, ())}:
        trial.add(pod)
    return trial.fits()
