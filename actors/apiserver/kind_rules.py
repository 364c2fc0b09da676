"""KindRules: how the server treats the objects of one kind, as a table with a row for each kind."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import attrs

from actors.apiserver.call import invalid
from actors.apiserver.defaults import (
    complete_daemon_set,
    complete_deployment,
    complete_job,
    complete_pod,
    complete_replica_set,
    complete_stateful_set,
)
from actors.apiserver.validation import (
    Wrongs,
    wrong_in_daemon_set,
    wrong_in_job,
    wrong_in_pod,
    wrong_in_workload,
)
from testbed.objects import (
    Pod,
    PodDisruptionBudget,
    PodDisruptionBudgetStatus,
    PodSpec,
    PodStatus,
    PriorityClass,
    qos_of,
)
from testbed.objects.form import field_by_wire_name
from testbed.objects.meta import evolved
from testbed.objects.priority import PREEMPT

NOT_COUNTED = PodDisruptionBudgetStatus()
IMMUTABLE = (
    "pod updates may not change fields other than `spec.containers[*].image`, "
    "`spec.initContainers[*].image`, `spec.activeDeadlineSeconds`, `spec.tolerations` (only "
    "additions to existing tolerations) or `spec.terminationGracePeriodSeconds` (allow it to be "
    "set to 1 if it was previously negative)"
)


def _unchanged(item: Any) -> Any:
    return item


def _blank_status(item: Any) -> Any:
    return field_by_wire_name(type(item))["status"].default


def _status_as_written(new: Any, old: Any) -> Any:
    return new.status


def _anything_goes(*_: Any) -> None:
    pass


@attrs.frozen
class KindRules:
    """What the server sets, keeps and refuses in objects of one kind.

    The defaults are right for most kinds. Which verb writes the object does not matter here:
    `rules.py` says when each of these applies.
    """

    is_counted: bool = False
    """Whether `generation` counts the changes of its spec. A pod's does not, in 1.26 (API-17)."""
    is_conditional: bool = False
    """Whether an update must name the revision that was read (API-12)."""
    is_graceful: bool = False
    """Whether a delete gives its objects time to end (API-31)."""
    keeps_status: bool = False
    """Whether an object may be created with a status."""
    complete: Callable[[Any], Any] = _unchanged
    """Fills in the defaults of what the object does not say."""
    initial: Callable[[Any], Any] = _unchanged
    """Fills in what an object that a scenario starts with would have gained since its creation."""
    first_status: Callable[[Any], Any] = _blank_status
    """The status that a new object begins with."""
    merge_status: Callable[[Any, Any], Any] = _status_as_written
    """The status that a write of the status leaves, from the new object and the old one."""
    check: Callable[[Any], None] = _anything_goes
    """Raises Invalid if nobody may create such an object, though a scenario may begin with one."""
    wrongs: Callable[[Any], Wrongs] | None = None
    """What is wrong with its spec: if anything is, there can be no such object (API-62). None:
    nothing can be."""
    check_change: Callable[[Any, Any], None] = _anything_goes
    """Raises Invalid if the old object (second) may not become the new one (API-14)."""


# -- pods -----------------------------------------------------------------------------------------


def _initial_pod(pod: Pod) -> Pod:
    phase, qos_class = pod.status.phase or "Pending", pod.status.qos_class or qos_of(pod.spec)
    return evolved(pod, status=evolved(pod.status, phase=phase, qos_class=qos_class))


def _first_status_of_pod(pod: Pod) -> PodStatus:
    return PodStatus("Pending", qos_class=qos_of(pod.spec))


def _merge_status_of_pod(new: Pod, old: Pod) -> PodStatus:
    """The QoS class follows from the spec at creation, and no write may change it later."""
    status, qos_class = new.status, old.status.qos_class
    return status if status.qos_class == qos_class else evolved(status, qos_class=qos_class)


def _check_pod(pod: Pod) -> None:
    if not pod.spec.containers:
        raise invalid(Pod, pod.meta.name, "spec.containers", "Required value")


def _check_pod_change(new: Pod, old: Pod) -> None:
    """Compares the specs after taking the changes that are allowed from the new one."""
    is_beside = new.extra.get("spec") == old.extra.get("spec")
    if is_beside and (new.spec is old.spec or new.spec == old.spec):
        return
    allowed = _allowed(new.spec, old.spec)
    if not is_beside or evolved(new.spec, **allowed) != evolved(old.spec, **allowed):
        raise invalid(Pod, old.meta.name, "spec", f"Forbidden: {IMMUTABLE}")


def _allowed(new: PodSpec, old: PodSpec) -> dict[str, Any]:
    """The fields of the new spec that changed in a way that is allowed."""
    allowed: dict[str, Any] = {}
    for name in ("containers", "init_containers"):
        mine, theirs = getattr(new, name), getattr(old, name)
        if len(mine) == len(theirs) and all(
            evolved(one, image="") == evolved(other, image="")
            for one, other in zip(mine, theirs, strict=True)
        ):
            allowed[name] = mine
    deadline, was = new.active_deadline_s, old.active_deadline_s
    if deadline is not None and deadline >= 0 and (was is None or deadline <= was):
        allowed["active_deadline_s"] = deadline
    tolerated = [evolved(each, toleration_seconds=None) for each in new.tolerations]
    if all(evolved(e, toleration_seconds=None) in tolerated for e in old.tolerations):
        allowed["tolerations"] = new.tolerations
    if old.grace_s is not None and old.grace_s < 0 and new.grace_s == 1:
        allowed["grace_s"] = 1
    if all(gate in old.scheduling_gates for gate in new.scheduling_gates):
        allowed["scheduling_gates"] = new.scheduling_gates
    return allowed


# -- other kinds ----------------------------------------------------------------------------------


def _initial_budget(budget: PodDisruptionBudget) -> PodDisruptionBudget:
    # A scenario that gives a budget a status means it for the spec that it gives with it. Without
    # this generation every eviction would be refused as "still being processed".
    if budget.status.observed_generation or budget.status == NOT_COUNTED:
        return budget
    status = evolved(budget.status, observed_generation=budget.meta.generation)
    return evolved(budget, status=status)


def _complete_class(item: PriorityClass) -> PriorityClass:
    return item if item.preemption_policy else evolved(item, preemption_policy=PREEMPT)


# -- the table ------------------------------------------------------------------------------------

PLAIN = KindRules()
RULES: Mapping[str, KindRules] = {
    "daemonsets": KindRules(
        is_counted=True, complete=complete_daemon_set, wrongs=wrong_in_daemon_set
    ),
    "deployments": KindRules(
        is_counted=True, complete=complete_deployment, wrongs=wrong_in_workload
    ),
    "jobs": KindRules(
        is_counted=True, complete=complete_job, wrongs=wrong_in_job
    ),
    "leases": KindRules(is_conditional=True),
    "nodes": KindRules(keeps_status=True),
    "poddisruptionbudgets": KindRules(
        is_counted=True, is_conditional=True, initial=_initial_budget
    ),
    "pods": KindRules(
        is_graceful=True, complete=complete_pod, initial=_initial_pod,
        first_status=_first_status_of_pod, merge_status=_merge_status_of_pod,
        check=_check_pod, wrongs=wrong_in_pod, check_change=_check_pod_change,
    ),
    "priorityclasses": KindRules(is_counted=True, complete=_complete_class),
    "replicasets": KindRules(
        is_counted=True, complete=complete_replica_set, wrongs=wrong_in_workload
    ),
    "statefulsets": KindRules(
        is_counted=True, complete=complete_stateful_set, wrongs=wrong_in_workload
    ),
}  # fmt: skip
"""By plural. A kind without a row is PLAIN."""


def rules_of(item: Any) -> KindRules:
    """The rules of an object's kind."""
    return RULES.get(item.plural, PLAIN)
