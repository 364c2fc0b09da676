"""Eligibility: whether a pod may preempt others at all."""

from __future__ import annotations

from collections.abc import Callable

from actors.framework.nodeinfo import NodeInfo
from actors.framework.podinfo import PodInfo
from actors.framework.refusal import Refusal
from testbed.objects import Pod
from testbed.objects.condition import find

NEVER = "not eligible due to preemptionPolicy=Never."
WAITS = "not eligible due to a terminating pod on the nominated node."
BY_SCHEDULER = ("PreemptionByKubeScheduler", "PreemptionByScheduler")
"""The reason in the condition DisruptionTarget of a preempted pod: in 1.26, and in later ones."""


def why_not_eligible(
    pod: Pod,
    nominated: NodeInfo | None,
    refusal: Refusal | None,
    is_lower: Callable[[PodInfo], bool],
    terminating: str,
) -> str:
    """Return why the pod may not preempt, for its condition; empty if it may (SCH-71, SCH-72).

    `nominated` is its nominated node in the snapshot, None if there is no such node, and `refusal`
    is what the filters said of that node. `terminating` is the switch of SCH-73: the pod waits for
    any terminating pod (`any_lower`), or only for one that a scheduler preempted
    (`preempted_only`).
    """
    if pod.spec.preemption_policy == "Never":
        return NEVER
    # A node that no eviction can make feasible is not worth waiting for.
    if nominated is None or (refusal is not None and not refusal.is_resolvable):
        return ""
    # The pods that are terminating there may be the victims of this pod's last preemption. To
    # preempt again would kill more pods than are needed, and again at each retry, while the room
    # is being made. Only pods of lower priority count: it could not have preempted the others.
    counts = is_terminating if terminating == "any_lower" else is_preempted
    return WAITS if any(counts(other.pod) and is_lower(other) for other in nominated.pods) else ""


def is_terminating(pod: Pod) -> bool:
    """Whether the pod has a deletion timestamp."""
    return pod.meta.is_terminating


def is_preempted(pod: Pod) -> bool:
    """Whether the pod is terminating because a scheduler preempted it."""
    target = find(pod.status.conditions, "DisruptionTarget")
    by_us = target is not None and target.is_true and target.reason in BY_SCHEDULER
    return pod.meta.is_terminating and by_us
