"""Admission: whether the kubelet accepts a pod that was bound to its node (KUB-3 to KUB-15).

It is the last check before a pod runs: a bind looks at nothing of the node.

May use: ending.
In order: refusal, pressure, predicates, preemption, displacement, chain, __init__.
"""

from actors.kubelet.admission.chain import Admission, admission_of
from actors.kubelet.admission.displacement import Displacement
from actors.kubelet.admission.refusal import AdmissionRefusal

__all__ = ["Admission", "AdmissionRefusal", "Displacement", "admission_of"]
