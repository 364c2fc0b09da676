"""Pressure: which pods a node that is short of something still accepts (KUB-9)."""

from __future__ import annotations

from collections.abc import Sequence

from actors.kubelet.admission.refusal import AdmissionRefusal
from actors.kubelet.ending import EVICTED
from actors.shared.critical import is_critical
from testbed.objects import Pod, Taint
from testbed.objects.affinity import NO_SCHEDULE, tolerated
from testbed.objects.pod import BEST_EFFORT, qos_of

MEMORY_PRESSURE = "MemoryPressure"
MEMORY_TAINT = Taint("node.kubernetes.io/memory-pressure", effect=NO_SCHEDULE)


def refusal_under(pressures: Sequence[str], pod: Pod) -> AdmissionRefusal | None:
    """Why a node with these conditions rejects the pod; None if it does not. A critical pod is
    always accepted; if only memory is short, so is one that is not best effort, or tolerates the
    taint."""
    if not pressures or is_critical(pod):
        return None
    if tuple(pressures) == (MEMORY_PRESSURE,) and (
        qos_of(pod.spec) != BEST_EFFORT or tolerated(MEMORY_TAINT, pod.spec.tolerations)
    ):
        return None
    return AdmissionRefusal(EVICTED, f"The node had condition: [{' '.join(pressures)}]. ")
