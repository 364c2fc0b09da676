"""Displacement: which pods have to end before another starts, where kubelets preempt (CTL-54).

An alternative that Kubernetes rejected. The scheduler binds a pod to a node that has room for it
once less important pods are gone, and the kubelet ends these. It looks at resources only: of
affinity and budgets it knows nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import attrs

from actors.kubelet.admission.predicates import lacking
from actors.shared.critical import may_preempt
from testbed.objects import Node, Pod
from testbed.objects.pod import BEST_EFFORT, BURSTABLE, GUARANTEED, qos_of

GRADES = {GUARANTEED: 0, BURSTABLE: 1, BEST_EFFORT: 2}
BY_CLASS, BY_START, BY_BOTH = "qos", "start_time", "qos_then_start"


@attrs.frozen
class Displacement:
    """How a kubelet displaces less important pods."""

    tiebreak: str
    """Which of two pods of equal priority stays, as the scheduler's switch of that name has it."""
    is_ending: Callable[[Pod], bool]
    """Whether a pod is about to stop anyway."""
    now_ms: int
    """When a pod counts as started that has no start time yet."""

    def ahead_of(self, pod: Pod, node: Node, others: Sequence[Pod]) -> tuple[Pod, ...] | None:
        """The pods that have to stop before this one starts, the least important first; None if not
        even that makes room, or if the pod must never preempt.

        1. All less important pods are left out. 2. Those that are about to stop stay out: their
        room costs nothing. 3. Of the others each that still fits is put back, the most important
        first.
        """
        if pod.spec.preemption_policy == "Never":
            return None
        lower = [other for other in others if may_preempt(pod, other)]
        uids = {other.meta.uid for other in lower}
        staying = [other for other in others if other.meta.uid not in uids]
        if lacks(pod, node, staying):
            return None
        ending = [other for other in lower if self.is_ending(other)]
        victims: list[Pod] = []
        for other in sorted(lower, key=self._rank):
            if other in ending:
                continue
            if lacks(pod, node, [*staying, other]):
                victims.append(other)
            else:
                staying.append(other)
        return (*ending, *reversed(victims))

    def _rank(self, pod: Pod) -> tuple[int, int, int, str, str]:
        """Sorts the most important pod first."""
        grade = GRADES[qos_of(pod.spec)] if self.tiebreak in (BY_CLASS, BY_BOTH) else 0
        start_ms = self.now_ms if pod.status.start_ms is None else pod.status.start_ms
        began_ms = start_ms if self.tiebreak in (BY_START, BY_BOTH) else 0
        return -pod.priority, grade, began_ms, pod.meta.namespace, pod.meta.name


def lacks(pod: Pod, node: Node, others: Sequence[Pod]) -> bool:
    """Whether the node has too little of something for the pod beside these."""
    return next(lacking(pod, node, others), None) is not None
