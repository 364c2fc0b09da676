"""Counting: the status of a PodDisruptionBudget, as a function of its pods and their owners.

It is pure: the controller gives it what its Caches hold, and a claim what the Store holds.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import attrs

from actors.controllers.frame.wanted import part_of
from actors.shared.owners import controller_of
from testbed.objects import (
    Condition,
    Map,
    Owner,
    Pod,
    PodDisruptionBudget,
    PodDisruptionBudgetStatus,
    condition,
)

TIMEOUT_MS = 120_000
"""How long a granted eviction is counted on while its pod is not deleted (T-27)."""
ALLOWED = "DisruptionAllowed"
TARGET, BY_KUBELET = "DisruptionTarget", "TerminationByKubelet"


@attrs.frozen
class OwnerScale:
    """How many pods an owner is to have."""

    uid: str
    """Of the owner that decides: of the Deployment, not of its ReplicaSet."""
    replicas: int


ScaleOf = Callable[[Owner, str], OwnerScale | None]
"""The scale of an owner in a namespace; None if there is no such owner, or it has no scale."""


@attrs.frozen
class Uncountable:
    """The status of a budget cannot be computed."""

    why: str
    """The reason, in a sentence."""


@attrs.frozen
class Counted:
    """The status of a budget, and when it changes even if no pod does."""

    status: PodDisruptionBudgetStatus
    recheck_ms: int | None
    """After this time an entry in `disrupted_pods` runs out; None: there is none."""


@attrs.frozen
class _Wanted:
    """How many pods a budget expects, and how many of them must be healthy."""

    expected: int
    healthy: int


def counted(
    budget: PodDisruptionBudget, pods: Sequence[Pod], scale_of: ScaleOf, now_ms: int
) -> Counted | Uncountable:
    """1. How many pods there should be and how many must be healthy. 2. Which evictions were
    granted and are not carried out. 3. How many pods are healthy; what is left is allowed (CTL-21
    to CTL-24). `pods` are those that the budget covers."""
    wanted = _wanted(budget, pods, scale_of)
    if isinstance(wanted, Uncountable):
        return wanted
    disrupted = _disrupted(budget, pods, now_ms)
    healthy = sum(_is_healthy(pod, disrupted, now_ms) for pod in pods)
    allowed = max(healthy - wanted.healthy, 0) if wanted.expected > 0 else 0
    status = PodDisruptionBudgetStatus(
        disruptions_allowed=allowed, current_healthy=healthy, desired_healthy=wanted.healthy,
        expected_pods=wanted.expected, observed_generation=budget.meta.generation,
        disrupted_pods=disrupted, conditions=_conditions(budget, allowed, now_ms),
    )  # fmt: skip
    recheck_ms = min(disrupted.values()) + TIMEOUT_MS - now_ms if disrupted else None
    return Counted(status, recheck_ms)


def fail_safe(budget: PodDisruptionBudget, why: str, now_ms: int) -> PodDisruptionBudgetStatus:
    """The status that allows no eviction, for a budget that cannot be counted (CTL-23)."""
    failed = Condition(ALLOWED, "False", "SyncFailed", why)
    conditions = condition.having(budget.status.conditions, failed, now_ms)
    return attrs.evolve(budget.status, disruptions_allowed=0, conditions=conditions)


def stale_in_ms(pod: Pod, now_ms: int) -> int | None:
    """How long until a pod's DisruptionTarget is stale: it says that the pod is to be deleted, and
    nothing deletes it. None if it cannot become stale as the pod is now (CTL-25)."""
    found = condition.find(pod.status.conditions, TARGET)
    if found is None or not found.is_true or found.reason == BY_KUBELET:
        return None
    if pod.meta.is_terminating or pod.is_over:
        return None
    return max((found.since_ms or 0) + TIMEOUT_MS - now_ms, 0)


def share(bound: int | str, total: int) -> int | None:
    """A number, or a share of `total` such as `50%`, rounded up; None if it is neither."""
    is_share = isinstance(bound, str) and bound.endswith("%") and bound[:-1].isdecimal()
    return part_of(bound, total) if is_share or isinstance(bound, int) else None


def _wanted(
    budget: PodDisruptionBudget, pods: Sequence[Pod], scale_of: ScaleOf
) -> _Wanted | Uncountable:
    """How many pods there should be, and how many of them must be healthy (CTL-21)."""
    least, most = budget.spec.min_available, budget.spec.max_unavailable
    if most is None and (least is None or isinstance(least, int)):
        return _Wanted(0 if least is None else len(pods), least or 0)
    expected = _expected(pods, scale_of)
    if isinstance(expected, Uncountable):
        return expected
    bound = most if most is not None else least
    assert bound is not None
    number = share(bound, expected)
    if number is None:
        return Uncountable(f'invalid value for IntOrString: invalid type: "{bound}"')
    return _Wanted(expected, max(expected - number, 0) if most is not None else number)


def _expected(pods: Sequence[Pod], scale_of: ScaleOf) -> int | Uncountable:
    """The sum of the scales of all that own these pods. Pods without an owner count for nothing."""
    scales: dict[str, int] = {}
    for pod in pods:
        owner = controller_of(pod)
        if owner is None or owner.uid in scales:
            continue
        scale = scale_of(owner, pod.meta.namespace)
        if scale is None:
            return Uncountable(f'found no controllers for pod "{pod.meta.name}"')
        scales[scale.uid] = scale.replicas
    return sum(scales.values())


def _disrupted(budget: PodDisruptionBudget, pods: Sequence[Pod], now_ms: int) -> Map[int]:
    """The granted evictions that are still counted on: neither carried out nor too old (CTL-24)."""
    noted = budget.status.disrupted_pods
    alive = (pod.meta.name for pod in pods if not pod.meta.is_terminating)
    names = (name for name in alive if name in noted)
    return Map({name: noted[name] for name in names if noted[name] + TIMEOUT_MS >= now_ms})


def overdue(budget: PodDisruptionBudget, pods: Sequence[Pod], now_ms: int) -> list[Pod]:
    """The pods that are still not deleted, though their eviction was granted too long ago."""
    noted = budget.status.disrupted_pods
    alive = (pod for pod in pods if not pod.meta.is_terminating and pod.meta.name in noted)
    return [pod for pod in alive if noted[pod.meta.name] + TIMEOUT_MS < now_ms]


def _is_healthy(pod: Pod, disrupted: Map[int], now_ms: int) -> bool:
    """Whether a pod counts: it is ready, and nothing is about to delete it (CTL-22)."""
    granted_ms = disrupted.get(pod.meta.name)
    is_expected_to_go = granted_ms is not None and granted_ms + TIMEOUT_MS > now_ms
    return pod.is_ready and not pod.meta.is_terminating and not is_expected_to_go


def _conditions(budget: PodDisruptionBudget, allowed: int, now_ms: int) -> tuple[Condition, ...]:
    if allowed:
        new = Condition(ALLOWED, "True", "SufficientPods")
    else:
        new = Condition(ALLOWED, "False", "InsufficientPods")
    return condition.having(budget.status.conditions, new, now_ms)
