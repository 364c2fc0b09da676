"""Priority: what a PriorityClass may be, and how a pod comes by its priority."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import attrs

from actors.apiserver.call import Call, invalid
from testbed.errors import BadRequest, ScenarioError
from testbed.objects import Pod, PriorityClass
from testbed.objects.meta import key_of
from testbed.objects.priority import NEVER, PREEMPT

PREFIX, SYSTEM_NAMESPACE = "system-", "kube-system"
VALUE_MAX = 1_000_000_000
"""What is more important belongs to the system."""
INT32 = range(-(2**31), 2**31)
SYSTEM_CLASSES = (
    PriorityClass(
        "system-cluster-critical", value=2 * VALUE_MAX, preemption_policy=PREEMPT,
        description="Used for system critical pods that must run in the cluster, but can be moved "
        "to another node if necessary.",
    ),
    PriorityClass(
        "system-node-critical", value=2 * VALUE_MAX + 1000, preemption_policy=PREEMPT,
        description="Used for system critical pods that must not be moved from their current node.",
    ),
)  # fmt: skip
"""Those that every cluster has (PRI-4)."""
SYSTEM = {item.meta.name: item for item in SYSTEM_CLASSES}

ONLY_ONE = "PriorityClass {} is already marked as default. Only one default can exist"
RESERVED = "priority class names with 'system-' prefix are reserved for system use only. error: "
NO_INTEGER = (
    "the integer value of priority must not be provided in pod spec. Priority admission controller "
    "populates the value from the given PriorityClass name"
)
WRONG_INTEGER = (
    "the integer value of priority ({}) must not be provided in pod spec; priority admission "
    "controller computed {} from the given PriorityClass name"
)
WRONG_POLICY = (
    "the string value of PreemptionPolicy ({}) must not be provided in pod spec; priority "
    "admission controller computed {} from the given PriorityClass name"
)


# -- classes ------------------------------------------------------------------------------------


def check_class(item: PriorityClass) -> None:
    """Invalid if there can be no such class (PRI-1 to PRI-3)."""
    name, value = item.meta.name, item.value
    if value not in INT32:
        raise BadRequest(
            'PriorityClass in version "v1" cannot be handled as a PriorityClass: json: cannot '
            f"unmarshal number {value} into Go struct field PriorityClass.value of type int32"
        )
    if name.startswith(PREFIX):
        if wrong := _wrong_in_system(item):
            raise _invalid(item, "metadata.name", f"Forbidden: {RESERVED}{wrong}")
    elif value > VALUE_MAX:
        said = f"maximum allowed value of a user defined priority is {VALUE_MAX}"
        raise _invalid(item, "value", f"Forbidden: {said}")
    if item.preemption_policy not in (PREEMPT, NEVER):
        said = f'Unsupported value: "{item.preemption_policy}": supported values: '
        raise _invalid(item, "preemptionPolicy", f'{said}"{PREEMPT}", "{NEVER}"')


def check_class_change(new: PriorityClass, old: PriorityClass) -> None:
    """Invalid if that class may not become this (PRI-5)."""
    if new.value != old.value:
        raise _invalid(old, "value", "Forbidden: may not be changed in an update.")
    if new.preemption_policy != old.preemption_policy:
        said = f'Invalid value: "{new.preemption_policy}": field is immutable'
        raise _invalid(old, "preemptionPolicy", said)


def check_is_only_default(call: Call, item: PriorityClass, *, is_new: bool) -> None:
    """Forbidden if another class is the default, as far as this server has read (PRI-6)."""
    there = default_of(call.server.all_read(PriorityClass))
    if there is not None and (is_new or there.meta.name != item.meta.name):
        raise call.forbidden(ONLY_ONE.format(there.meta.name))


def check_class_may_go(call: Call) -> None:
    """Forbidden if it is one that every cluster has."""
    if call.operation.name in SYSTEM:
        raise call.forbidden("this is a system priority class and cannot be deleted")


def default_of(classes: Iterable[PriorityClass]) -> PriorityClass | None:
    """The default among them; if there are several, the least important of these (PRI-7)."""
    defaults = [item for item in classes if item.global_default]
    return min(defaults, key=lambda item: item.value, default=None)


def _wrong_in_system(item: PriorityClass) -> str:
    name, known = item.meta.name, SYSTEM.get(item.meta.name)
    if known is None:
        return f"{name} is not a known system priority class"
    if item.value != known.value:
        return f"value of {name} PriorityClass must be {known.value}"
    return f"globalDefault of {name} PriorityClass must be false" if item.global_default else ""


def _invalid(item: PriorityClass, field: str, why: str) -> Exception:
    return invalid(PriorityClass, item.meta.name, field, why)


# -- pods ---------------------------------------------------------------------------------------


def resolved(call: Call, pod: Pod) -> Pod:
    """The pod with the priority and the policy of its class; Forbidden if it names none that this
    server has read of, or says otherwise itself (PRI-11 to PRI-15)."""
    spec = pod.spec
    if spec.priority is not None and call.server.switches.client_priority == "reject_any":
        raise call.forbidden(NO_INTEGER)
    name, value, policy = _class_of(call, pod)
    if spec.priority not in (None, value):
        raise call.forbidden(WRONG_INTEGER.format(spec.priority, value))
    if spec.preemption_policy not in ("", policy):
        raise call.forbidden(WRONG_POLICY.format(spec.preemption_policy, policy))
    spec = attrs.evolve(spec, priority_class_name=name, priority=value, preemption_policy=policy)
    return attrs.evolve(pod, spec=spec)


def initial(pod: Pod, classes: Iterable[PriorityClass]) -> Pod:
    """A pod that was there before anything moves: where it does not say how important it is, by its
    class, or by the default, among those that were there before it."""
    spec = pod.spec
    if spec.priority is not None:
        return pod
    known = {item.meta.name: item for item in (*SYSTEM_CLASSES, *classes)}
    name = spec.priority_class_name
    found = known.get(name) if name else default_of(known.values())
    if found is None and name:
        raise ScenarioError(
            f"{pod.key} names the PriorityClass {name!r}, which is not there.\n"
            "Next: add that before the pod, or say the pod's priority."
        )
    if found is None:
        return pod
    policy = spec.preemption_policy or found.preemption_policy or PREEMPT
    spec = attrs.evolve(
        spec, priority_class_name=found.meta.name, priority=found.value, preemption_policy=policy
    )
    return attrs.evolve(pod, spec=spec)


def kept(new: Any, old: Any) -> Any:
    """The pod as it is to be, with what it does not say of its priority as it was (PRI-16)."""
    spec = new.spec
    if spec.priority is None:
        spec = attrs.evolve(spec, priority=old.spec.priority)
    if not spec.preemption_policy:
        spec = attrs.evolve(spec, preemption_policy=old.spec.preemption_policy)
    return new if spec is new.spec else attrs.evolve(new, spec=spec)


def _class_of(call: Call, pod: Pod) -> tuple[str, int, str]:
    """The name, value and policy of its class; of the default if it names none, or of none."""
    name = pod.spec.priority_class_name
    if name:
        _check_may_name(call, pod)
        found = call.server.as_read(PriorityClass.plural, key_of(PriorityClass, name))
        if found is None:
            raise call.forbidden(f"no PriorityClass with name {name} was found")
    else:
        found = default_of(call.server.all_read(PriorityClass))
    if found is None:
        return "", 0, PREEMPT
    return found.meta.name, found.value, found.preemption_policy or PREEMPT


def _check_may_name(call: Call, pod: Pod) -> None:
    """Forbidden if it names a system class where not everybody may (PRI-17)."""
    name, namespace = pod.spec.priority_class_name, pod.meta.namespace
    if name not in SYSTEM:
        return
    scope = call.server.switches.system_class_scope
    if scope == "kube_system_only" and namespace != SYSTEM_NAMESPACE:
        raise call.forbidden(
            f"pods with {name} priorityClass is not permitted in {namespace} namespace"
        )
    if scope == "authz" and call.caller not in call.server.authorized:
        raise call.forbidden(f"{call.caller} is not authorized to use PriorityClass {name}")
