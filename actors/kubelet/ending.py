"""PodEnding: a reason of the kubelet's own to end a pod, and what its status says then."""

from __future__ import annotations

import attrs

from testbed.objects import Condition
from testbed.objects.condition import TRUE

EVICTED = "Evicted"
"""The reason of a pod that goes, or is refused, because its node runs short."""
DISRUPTION_TARGET = "DisruptionTarget"
BY_KUBELET = "TerminationByKubelet"
"""The reason of a kubelet in that condition."""


@attrs.frozen
class PodEnding:
    """Why a kubelet ends a pod whose object nobody has deleted: it was evicted, say.

    Its object stays, as Failed, for its owner or the pod garbage collector.
    """

    reason: str
    """The reason in the status: `Evicted`, `Preempting`."""
    message: str
    """The message in the status."""
    disruption: str = ""
    """The message of the condition DisruptionTarget; empty: it gets none."""

    @property
    def condition(self) -> Condition | None:
        """The condition DisruptionTarget, for budgets and for Jobs; None if it gets none."""
        if not self.disruption:
            return None
        return Condition(DISRUPTION_TARGET, TRUE, BY_KUBELET, self.disruption)
