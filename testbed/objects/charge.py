"""Charge: what a pod takes of a quota, and of which quotas it does (PRI-20, PRI-21)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from testbed.objects.labels import EXISTS, Requirement
from testbed.objects.meta import Map
from testbed.objects.pod import BEST_EFFORT, Container, Pod, qos_of
from testbed.objects.quantity import CPU, Quantity, whole
from testbed.objects.quota import ResourceQuota, ScopedRequirement

BY_CLASS = "PriorityClass"
"""The scope that asks for the class a pod names; each other one asks whether it is so."""
COMPUTE = (CPU, "memory", "ephemeral-storage")
COUNT, PODS, REQUESTS, LIMITS = "count/pods", "pods", "requests.", "limits."
PAGES = "hugepages-"
_NATIVE = {COUNT, PODS, *(f"{of}{name}" for of in ("", REQUESTS, LIMITS) for name in COMPUTE)}

Amounts = Mapping[str, Quantity]


def charge_of(pod: Pod, now_ms: int) -> Map[Quantity]:
    """What it takes of quotas: itself as long as it is stored, all else as long as it lasts."""
    charge = {COUNT: whole(1)}
    if not _lasts(pod, now_ms):
        return Map(charge)
    asked, limited = (_of_all(pod, which) for which in ("requests", "limits"))
    return Map({**charge, **_named(asked, limited)})


def is_freed(old: Pod, new: Pod, now_ms: int) -> bool:
    """Whether it has ended by that change, so that quotas may have it back (PRI-24)."""
    return _lasts(old, now_ms) and not _lasts(new, now_ms)


def _lasts(pod: Pod, now_ms: int) -> bool:
    """Whether it still takes room: one that is to be gone does, until well after its time."""
    meta = pod.meta
    if meta.deleted_ms is None or meta.grace_s is None:
        return not pod.is_over
    return not pod.is_over and now_ms <= meta.deleted_ms + meta.grace_s * 1000


def missing_in(container: Container, wanted: Iterable[str]) -> list[str]:
    """Which of these, as quotas name them, it does not say how much of it wants."""
    said = _named(container.resources.requests, container.resources.limits)
    return sorted(name for name in wanted if name not in said)


def charged(names: Iterable[str]) -> list[str]:
    """Those of these resources that pods take of, by name."""
    return sorted(name for name in names if name in _NATIVE or _is_beyond(name))


def scopes_of(quota: ResourceQuota) -> tuple[ScopedRequirement, ...]:
    """All it asks of the pods it counts, in one form."""
    selector = quota.spec.scope_selector
    plain = tuple(ScopedRequirement(scope, EXISTS) for scope in quota.spec.scopes)
    return plain if selector is None else (*plain, *selector.match_expressions)


def counts(quota: ResourceQuota, pod: Pod) -> bool:
    """Whether that pod is one of those it counts: it must meet all it asks."""
    return all(meets(pod, scope) for scope in scopes_of(quota))


def meets(pod: Pod, scope: ScopedRequirement) -> bool:
    """Whether a pod is as one scope wants it."""
    is_timed = pod.spec.active_deadline_s is not None and pod.spec.active_deadline_s >= 0
    match scope.scope_name:
        case "Terminating":
            return is_timed
        case "NotTerminating":
            return not is_timed
        case "BestEffort":
            return qos_of(pod.spec) == BEST_EFFORT
        case "NotBestEffort":
            return qos_of(pod.spec) != BEST_EFFORT
        case "PriorityClass":
            name = pod.spec.priority_class_name
            asked = Requirement(BY_CLASS, scope.operator, scope.values)
            return asked.holds({BY_CLASS: name} if name else {})
    return False


def plus(some: Amounts, more: Amounts) -> Map[Quantity]:
    """Both together; an amount is written as the first of its resource is."""
    total = dict(some)
    for name, amount in more.items():
        total[name] = _sum(total[name], amount) if name in total else amount
    return Map(total)


def only(amounts: Amounts, names: Iterable[str]) -> Map[Quantity]:
    """Those of these names, in their order."""
    return Map({name: amounts[name] for name in names if name in amounts})


def _sum(one: Quantity, other: Quantity) -> Quantity:
    return Quantity(one.nano + other.nano, one.form if one else other.form)


def _of_all(pod: Pod, which: str) -> Map[Quantity]:
    """Of its requests or limits: what its containers say together, or what an init container says
    alone if that is more; and its overhead."""
    total: Map[Quantity] = Map()
    for container in pod.spec.containers:
        total = plus(total, getattr(container.resources, which))
    for container in pod.spec.init_containers:
        alone: Amounts = getattr(container.resources, which)
        larger = {k: v for k, v in alone.items() if k not in total or v.nano > total[k].nano}
        total = Map({**total, **larger})
    return plus(total, pod.spec.overhead)


def _named(requests: Amounts, limits: Amounts) -> dict[str, Quantity]:
    """What is asked for and limited, under the names that quotas have for it, beside one pod."""
    charge = {PODS: whole(1)}
    for name in COMPUTE:
        if name in requests:
            charge[name] = charge[f"{REQUESTS}{name}"] = requests[name]
        if name in limits:
            charge[f"{LIMITS}{name}"] = limits[name]
    for name, amount in requests.items():
        if name.startswith(PAGES):
            charge[name] = amount
        if name.startswith(PAGES) or _is_extended(name):
            charge[f"{REQUESTS}{name}"] = amount
    return charge


def _is_beyond(name: str) -> bool:
    """Whether a quota of that name is one of huge pages, or of something only some nodes have."""
    bare = name.removeprefix(REQUESTS)
    return bare.startswith(PAGES) or (bare != name and _is_extended(bare))


def _is_extended(name: str) -> bool:
    return "/" in name and "kubernetes.io/" not in name and not name.startswith(REQUESTS)
