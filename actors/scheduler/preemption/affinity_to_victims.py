"""Experiment: keep potential victims that the preemptor has a required affinity to (SCH-105)."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

from actors.framework.podinfo import Namespaces, PodInfo
from actors.framework.refusal import Refusal
from actors.scheduler.preemption.trial import AnyTrial


def lacks_affinity(refusal: Refusal) -> bool:
    """Whether the node is refused only because it has no pod that the preemptor must be near."""
    return refusal.filter == "InterPodAffinity" and not refusal.is_resolvable


def spare_for_affinity(
    pod: PodInfo,
    trial: AnyTrial,
    potential: Sequence[PodInfo],
    pods_max: int,
    namespaces: Namespaces,
) -> tuple[tuple[PodInfo, ...], int]:
    """Return the first set of these pods that makes the node fit if it stays, and the sets tried.

    Only pods that match a term of the preemptor's affinity are tried: small sets first, important
    pods first. All of `potential` has been removed from the trial; the pods of the set are back on
    it afterwards. An empty set means that no set helps.
    """
    # Kubernetes removes every lower-priority pod before it asks whether the preemptor fits. A pod
    # that must be near one of those then never fits, and the node is no candidate (SCH-81). The
    # experiment asks whether it fits if a few of the pods it wants to be near stay.
    matching = [
        info for info in potential if any(term.matches(info, namespaces) for term in pod.affinity)
    ]
    tried = 0
    for size in range(1, min(pods_max, len(matching)) + 1):
        for some in combinations(matching, size):
            tried += 1
            for info in some:
                trial.add(info)
            if trial.fits():
                return some, tried
            for info in some:
                trial.remove(info)
    return (), tried
