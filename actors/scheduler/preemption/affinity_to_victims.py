"""Experiment: spare those whom the pod wants to be near of, though they may go (SCH-105)."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

from actors.framework.podinfo import Namespaces, PodInfo
from actors.framework.refusal import Refusal
from actors.scheduler.preemption.trial import AnyTrial


def lacks_affinity(refusal: Refusal) -> bool:
    """Whether all that is amiss is that the pods are not there that it must be near."""
    return refusal.filter == "InterPodAffinity" and not refusal.is_resolvable


def spare_for_affinity(
    pod: PodInfo,
    trial: AnyTrial,
    potential: Sequence[PodInfo],
    pods_max: int,
    namespaces: Namespaces,
) -> tuple[tuple[PodInfo, ...], int]:
    """The first set of these pods with which on the node it fits there, and how many were tried.

    Only pods that its affinity is about; small sets first, important pods first. All of `potential`
    have been taken away; those of the set are back afterwards. An empty set: there is none.
    """
    wanted = [
        info for info in potential if any(term.matches(info, namespaces) for term in pod.affinity)
    ]
    tried = 0
    for size in range(1, min(pods_max, len(wanted)) + 1):
        for some in combinations(wanted, size):
            tried += 1
            for info in some:
                trial.add(info)
            if trial.fits():
                return some, tried
            for info in some:
                trial.remove(info)
    return (), tried
