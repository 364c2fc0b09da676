"""Charge: how much of a quota a pod uses, and which quotas count it (PRI-20, PRI-21)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from testbed.objects.labels import EXISTS, Requirement
from testbed.objects.meta import Map
from testbed.objects.pod import BEST_EFFORT, Container, Pod, qos_of
from testbed.objects.quantity import CPU, Quantity, whole
from testbed.objects.quota import ResourceQuota, ScopedRequirement

BY_CLASS = "PriorityClass"
"""The scope that compares the priority class of a pod; every other scope just holds or not."""
COMPUTE = (CPU, "memory", "ephemeral-storage")
COUNT, PODS, REQUESTS, LIMITS = "count/pods", "pods", "requests.", "limits."
PAGES = "hugepages-"
_NATIVE = {COUNT, PODS, *(f"{of}{name}" for of in ("", REQUESTS, LIMITS) for name in COMPUTE)}

Amounts = Mapping[str, Quantity]


def charge_of(pod: Pod, now_ms: int) -> Map[Quantity]:
    """How much of quotas a pod uses: `count/pods` as long as it is stored, everything else only
    until it has ended."""
    charge = {COUNT: whole(1)}
    if not _lasts(pod, now_ms):
        return Map(charge)
    requests, limits = (_of_all(pod, which) for which in ("requests", "limits"))
    return Map({**charge, **_named(requests, limits)})


def is_freed(old: Pod, new: Pod, now_ms: int) -> bool:
    """Whether that update ends the pod, so that it no longer uses quotas (PRI-24)."""
    return _lasts(old, now_ms) and not _lasts(new, now_ms)


def _lasts(pod: Pod, now_ms: int) -> bool:
    """Whether it still uses quotas: a deleting pod does, until its grace period is well over."""
    meta = pod.meta
    if meta.deleted_ms is None or meta.grace_s is None:
        return not pod.is_over
    return not pod.is_over and now_ms <= meta.deleted_ms + meta.grace_s * 1000


def missing_in(container: Container, wanted: Iterable[str]) -> list[str]:
    """Which of the `wanted` quota resources a container sets no request or limit for."""
    given = _named(container.resources.requests, container.resources.limits)
    return sorted(name for name in wanted if name not in given)


def charged(names: Iterable[str]) -> list[str]:
    """Those of these quota resources that pods use, sorted."""
    return sorted(name for name in names if name in _NATIVE or _is_beyond(name))


def scopes_of(quota: ResourceQuota) -> tuple[ScopedRequirement, ...]:
    """All scopes of a quota, plain ones and selector alike, as ScopedRequirements."""
    selector = quota.spec.scope_selector
    plain = tuple(ScopedRequirement(scope, EXISTS) for scope in quota.spec.scopes)
    return plain if selector is None else (*plain, *selector.match_expressions)


def counts(quota: ResourceQuota, pod: Pod) -> bool:
    """Whether the quota counts that pod: the pod must meet all its scopes."""
    return all(meets(pod, scope) for scope in scopes_of(quota))


def meets(pod: Pod, scope: ScopedRequirement) -> bool:
    """Whether a pod meets one scope."""
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
            requirement = Requirement(BY_CLASS, scope.operator, scope.values)
            return requirement.holds({BY_CLASS: name} if name else {})
    return False


def plus(some: Amounts, more: Amounts) -> Map[Quantity]:
    """The sum of both, by resource; a sum keeps the form of its first amount."""
    total = dict(some)
    for name, amount in more.items():
        total[name] = _sum(total[name], amount) if name in total else amount
    return Map(total)


def only(amounts: Amounts, names: Iterable[str]) -> Map[Quantity]:
    """The amounts of these names, in that order."""
    return Map({name: amounts[name] for name in names if name in amounts})


def _sum(one: Quantity, other: Quantity) -> Quantity:
    return Quantity(one.nano + other.nano, one.form if one else other.form)


def _of_all(pod: Pod, which: str) -> Map[Quantity]:
    """The pod's requests or limits: the sum over its containers, or what one init container needs
    if that is more; plus its overhead."""
    total: Map[Quantity] = Map()
    for container in pod.spec.containers:
        total = plus(total, getattr(container.resources, which))
    for container in pod.spec.init_containers:
        alone: Amounts = getattr(container.resources, which)
        larger = {k: v for k, v in alone.items() if k not in total or v.nano > total[k].nano}
        total = Map({**total, **larger})
    return plus(total, pod.spec.overhead)


def _named(requests: Amounts, limits: Amounts) -> dict[str, Quantity]:
    """One pod, and these requests and limits, under the names that quotas have for them."""
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
    """Whether a quota of that name limits huge pages or an extended resource."""
    bare = name.removeprefix(REQUESTS)
    return bare.startswith(PAGES) or (bare != name and _is_extended(bare))


def _is_extended(name: str) -> bool:
    return "/" in name and "kubernetes.io/" not in name and not name.startswith(REQUESTS)
