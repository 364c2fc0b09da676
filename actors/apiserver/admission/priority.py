"""Priority: validates a PriorityClass, and gives a pod the priority of its class."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from actors.apiserver.call import Call, invalid
from testbed.errors import BadRequest, ScenarioError
from testbed.objects import Pod, PriorityClass
from testbed.objects.meta import evolved, key_of
from testbed.objects.priority import NEVER, PREEMPT

PREFIX, SYSTEM_NAMESPACE = "system-", "kube-system"
VALUE_MAX = 1_000_000_000
"""The highest value of a class that does not belong to the system."""
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
"""The classes that every cluster has (PRI-4)."""
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
    """Raise Invalid if there can be no such class (PRI-1 to PRI-3)."""
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
        why = f"maximum allowed value of a user defined priority is {VALUE_MAX}"
        raise _invalid(item, "value", f"Forbidden: {why}")
    if item.preemption_policy not in (PREEMPT, NEVER):
        why = f'Unsupported value: "{item.preemption_policy}": supported values: '
        raise _invalid(item, "preemptionPolicy", f'{why}"{PREEMPT}", "{NEVER}"')


def check_class_change(new: PriorityClass, old: PriorityClass) -> None:
    """Raise Invalid if the old class may not become the new one (PRI-5)."""
    if new.value != old.value:
        raise _invalid(old, "value", "Forbidden: may not be changed in an update.")
    if new.preemption_policy != old.preemption_policy:
        why = f'Invalid value: "{new.preemption_policy}": field is immutable'
        raise _invalid(old, "preemptionPolicy", why)


def check_is_only_default(call: Call, item: PriorityClass, *, is_new: bool) -> None:
    """Raise Forbidden if another class is the default, by this server's cache (PRI-6).

    Two admins may both pass this check before either class is committed: scenario `two_defaults`.
    """
    there = default_of(call.server.all_cached(PriorityClass))
    if there is not None and (is_new or there.meta.name != item.meta.name):
        raise call.forbidden(ONLY_ONE.format(there.meta.name))


def check_class_may_go(call: Call) -> None:
    """Raise Forbidden if the class is one of those that every cluster has."""
    if call.operation.name in SYSTEM:
        raise call.forbidden("this is a system priority class and cannot be deleted")


def default_of(classes: Iterable[PriorityClass]) -> PriorityClass | None:
    """The default class; if there are several, the one with the lowest value (PRI-7)."""
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
    """The pod with the priority and the preemption policy of its class. Forbidden if that class is
    not in this server's cache, or if the pod says something else itself (PRI-11 to PRI-15)."""
    spec = pod.spec
    if spec.priority is not None and call.server.switches.client_priority == "reject_any":
        raise call.forbidden(NO_INTEGER)
    name, value, policy = _class_of(call, pod)
    if spec.priority not in (None, value):
        raise call.forbidden(WRONG_INTEGER.format(spec.priority, value))
    if spec.preemption_policy not in ("", policy):
        raise call.forbidden(WRONG_POLICY.format(spec.preemption_policy, policy))
    spec = evolved(spec, priority_class_name=name, priority=value, preemption_policy=policy)
    return evolved(pod, spec=spec)


def initial(pod: Pod, classes: Iterable[PriorityClass]) -> Pod:
    """A pod that a scenario starts with. If it says no priority, it gets that of its class, or of
    the default class, among those that were added before it, or 0: as one that is created."""
    spec = pod.spec
    if spec.priority is not None:
        policy = spec.preemption_policy or PREEMPT
        return evolved(pod, spec=evolved(spec, preemption_policy=policy))
    known = {item.meta.name: item for item in (*SYSTEM_CLASSES, *classes)}
    name = spec.priority_class_name
    found = known.get(name) if name else default_of(known.values())
    if found is None and name:
        raise ScenarioError(
            f"{pod.key} names the PriorityClass {name!r}, which is not there.\n"
            "Next: add that before the pod, or say the pod's priority."
        )
    usual = PREEMPT if found is None else found.preemption_policy
    spec = evolved(
        spec,
        priority_class_name=name if found is None else found.meta.name,
        priority=0 if found is None else found.value,
        preemption_policy=spec.preemption_policy or usual or PREEMPT,
    )
    return evolved(pod, spec=spec)


def kept(new: Any, old: Any) -> Any:
    """The new pod, with the priority and policy of the old one where it says none (PRI-16)."""
    spec = new.spec
    if spec.priority is None:
        spec = evolved(spec, priority=old.spec.priority)
    if not spec.preemption_policy:
        spec = evolved(spec, preemption_policy=old.spec.preemption_policy)
    return new if spec is new.spec else evolved(new, spec=spec)


def _class_of(call: Call, pod: Pod) -> tuple[str, int, str]:
    """The name, value and policy of the class that a pod names, else of the default, if any."""
    name = pod.spec.priority_class_name
    if name:
        _check_may_name(call, pod)
        found = call.server.cached(PriorityClass.plural, key_of(PriorityClass, name))
        if found is None:
            raise call.forbidden(f"no PriorityClass with name {name} was found")
    else:
        found = default_of(call.server.all_cached(PriorityClass))
    if found is None:
        return "", 0, PREEMPT
    return found.meta.name, found.value, found.preemption_policy or PREEMPT


def _check_may_name(call: Call, pod: Pod) -> None:
    """Raise Forbidden if the pod names a system class and may not (PRI-17)."""
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
