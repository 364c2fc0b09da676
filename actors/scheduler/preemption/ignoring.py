"""Ignoring: the cluster as it would be without the pods that a pod outranks (CTL-54).

The alternative in which kubelets preempt: the scheduler places the pod in that cluster as in any
other, and binds it at once. Which pods have to go then is the kubelet's affair.
"""

from __future__ import annotations

from actors.framework.podinfo import PodInfo
from actors.framework.snapshot import Snapshot


def without_less_important(pod: PodInfo, snapshot: Snapshot) -> Snapshot | None:
    """Another Snapshot, without the pods of lower priority; None if it would be the same, or if the
    pod must never preempt."""
    if pod.pod.spec.preemption_policy == "Never":
        return None
    left, is_another = Snapshot(), False
    infos = []
    for node in snapshot.infos:
        emptied = node.copy()
        for other in node.pods:
            if other.priority < pod.priority:
                emptied.remove(other)
                is_another = True
        infos.append(emptied)
    left.lay_out(infos)
    left.namespaces = snapshot.namespaces
    return left if is_another else None
