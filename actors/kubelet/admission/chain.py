"""Chain: the checks at admission, in their order; the first refusal wins (KUB-4)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import attrs

from actors.kubelet.admission.displacement import Displacement
from actors.kubelet.admission.predicates import Lack, failures_of
from actors.kubelet.admission.preemption import NotEnough, victims_for
from actors.kubelet.admission.pressure import refusal_under
from actors.kubelet.admission.refusal import AdmissionRefusal
from actors.shared.critical import is_critical
from testbed.objects import Node, Pod

NO_NODE = AdmissionRefusal("InvalidNodeInfo", "Kubelet cannot get node info.")
OS_LABEL, OS = "kubernetes.io/os", "linux"
WRONG_OS = AdmissionRefusal(
    "PodOSSelectorNodeLabelDoesNotMatch",
    "Failed to admit pod as the `kubernetes.io/os` label doesn't match node label",
)
UNEXPECTED = "UnexpectedAdmissionError"
EVICTION_MANAGER, PREDICATES = "eviction manager", "predicates"


@attrs.frozen
class Admission:
    """What a kubelet decides of a pod that is new to it."""

    refusal: AdmissionRefusal | None = None
    """Why it is rejected; None: it is admitted."""
    refused_by: str = ""
    """Which check rejects it; empty: none."""
    victims: tuple[Pod, ...] = ()
    """The pods to kill first, in order. A pod may be rejected even then, by a later check."""
    failures: tuple[Lack, ...] = ()
    """The checks that failed. A critical pod is admitted even if resources are lacking."""
    displaced: tuple[Pod, ...] = ()
    """The pods that have to stop before it starts (CTL-54), the least important first. Those that
    are not about to end are to be ended; meanwhile other pods are handled."""


def admission_of(
    pod: Pod,
    node: Node | None,
    active: Iterable[Pod],
    pressures: Sequence[str] = (),
    displacement: Displacement | None = None,
) -> Admission:
    """Admit or reject a pod, given the pods that are active on the node and its pressures.

    1. Pressure. 2. The predicates. 3. If only resources are lacking and the pod is critical, others
    are killed for it (KUB-11); with a `displacement`, for any pod that is more important than they
    are (CTL-54). 4. The operating system.
    """
    refusal = refusal_under(pressures, pod)
    if refusal is not None:
        return Admission(refusal, EVICTION_MANAGER)
    if node is None:
        return Admission(NO_NODE, PREDICATES)
    others = list(active)
    failures = tuple(failures_of(pod, node, others))
    victims: tuple[Pod, ...] = ()
    displaced: tuple[Pod, ...] | None = ()
    if failures and displacement is not None:
        refusal = next((each.refusal for each in failures if not each.resource), None)
        displaced = None if refusal else displacement.ahead_of(pod, node, others)
        if displaced is None:
            refusal = refusal or failures[0].refusal
    elif failures:
        try:
            refusal, victims = _after(failures, pod, others)
        except NotEnough as error:
            refusal = _unexpected(error)
    if refusal is None and pod.meta.labels.get(OS_LABEL, OS) != OS:
        refusal = WRONG_OS
    by, goes = PREDICATES if refusal is not None else "", () if refusal else displaced
    return Admission(refusal, by, victims, failures, goes or ())


def _after(
    failures: Sequence[Lack], pod: Pod, others: list[Pod]
) -> tuple[AdmissionRefusal | None, tuple[Pod, ...]]:
    """What follows from failures: a refusal, or victims; NotEnough."""
    if not is_critical(pod):
        return failures[0].refusal, ()
    for each in failures:
        if not each.resource:
            return each.refusal, ()
    return None, victims_for(pod, others, {each.resource: each.shortfall for each in failures})


def _unexpected(error: NotEnough) -> AdmissionRefusal:
    why = (
        "Unexpected error while attempting to recover from admission failure: preemption: error "
        f"finding a set of pods to preempt: {error}"
    )
    return AdmissionRefusal(UNEXPECTED, why)
