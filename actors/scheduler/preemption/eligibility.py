"""Whether a pod may make others go at all."""

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
"""What a scheduler says of a pod it preempts: in 1.26, and since."""


def why_not_eligible(
    pod: Pod,
    nominated: NodeInfo | None,
    refusal: Refusal | None,
    is_lower: Callable[[PodInfo], bool],
    terminating: str,
) -> str:
    """Why it may not, as its condition says it; empty if it may (SCH-71, SCH-72).

    `nominated` is the node it is nominated to as the snapshot has it, and `refusal` what the
    filters said of that. A pod waits for what is on its way there: whatever that goes for
    (`any_lower`), or only if a scheduler made it go (`preempted_only`, SCH-73).
    """
    if pod.spec.preemption_policy == "Never":
        return NEVER
    if nominated is None or (refusal is not None and not refusal.is_resolvable):
        return ""
    counts = is_terminating if terminating == "any_lower" else is_preempted
    return WAITS if any(counts(other.pod) and is_lower(other) for other in nominated.pods) else ""


def is_terminating(pod: Pod) -> bool:
    """Whether it is on its way."""
    return pod.meta.is_terminating


def is_preempted(pod: Pod) -> bool:
    """Whether it is on its way because a scheduler has made it go."""
    target = find(pod.status.conditions, "DisruptionTarget")
    by_us = target is not None and target.is_true and target.reason in BY_SCHEDULER
    return pod.meta.is_terminating and by_us
