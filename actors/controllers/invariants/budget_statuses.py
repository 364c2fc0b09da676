"""At rest the status of each PodDisruptionBudget says what is there (INV-32)."""

from __future__ import annotations

from typing import Any

from testbed import Evidence, Invariant
from testbed.objects import Pod, PodDisruptionBudget
from testbed.objects.kinds import kind_of
from testbed.turns.found import UNEQUAL, Found, Wrong

MINUTES_2 = 120_000


class BudgetStatusesAreRight(Invariant):
    """At rest `currentHealthy` is how many pods are healthy, `desiredHealthy` what the spec asks
    for, and `disruptionsAllowed` how many are healthy beyond that. `disruptedPods` lists no pod
    that is gone, and no eviction that was granted more than two minutes ago."""

    name = "budget_statuses_are_right"
    breach_reason, breach_fields = UNEQUAL, ("status",)
    reads = frozenset()

    def end(self, evidence: Evidence) -> Wrong:
        """Count each budget of the Store afresh."""
        pods: list[Any] = [entry.value for entry in evidence.store.snapshot("pods/")]
        for entry in evidence.store.snapshot("poddisruptionbudgets/"):
            budget: Any = entry.value
            mine = [pod for pod in pods if budget.covers(pod.meta)]
            wrong = _wrong_in(budget, mine, evidence)
            if wrong:
                return Found.of(f"{entry.key} {wrong}", budget, *mine)
        return None


def _wrong_in(budget: PodDisruptionBudget, pods: list[Pod], evidence: Evidence) -> str:
    status, now_ms = budget.status, evidence.now_ms
    alive = {pod.meta.name: pod for pod in pods if not pod.meta.is_terminating}
    for name, granted_ms in sorted(status.disrupted_pods.items()):
        if name not in alive:
            return f"still lists {name} as about to go, which is gone"
        if granted_ms + MINUTES_2 < now_ms:
            return f"still lists {name} as about to go, granted {now_ms - granted_ms} ms ago"
    total = len(pods) if _is_absolute(budget) else _total(pods, evidence)
    if total is None:
        allows = status.disruptions_allowed
        return f"has a pod of an unknown owner and allows {allows}" if allows else ""
    ready = [pod for name, pod in alive.items() if pod.is_ready]
    healthy = sum(pod.meta.name not in status.disrupted_pods for pod in ready)
    desired = _desired(budget, total)
    allowed = max(healthy - desired, 0) if total else 0
    found = (status.expected_pods, status.current_healthy, status.desired_healthy)
    if found != (total, healthy, desired) or status.disruptions_allowed != allowed:
        return (
            f"says expected {found[0]}, healthy {found[1]}, desired {found[2]}, allowed "
            f"{status.disruptions_allowed}; it is {total}, {healthy}, {desired}, {allowed}"
        )
    is_old = status.observed_generation != budget.meta.generation
    return "has not been counted since its spec has changed" if is_old else ""


def _is_absolute(budget: PodDisruptionBudget) -> bool:
    """Whether `minAvailable` is a number: then the scale of the owners does not count."""
    spec = budget.spec
    return spec.max_unavailable is None and not isinstance(spec.min_available, str)


def _desired(budget: PodDisruptionBudget, total: int) -> int:
    spec = budget.spec
    if spec.max_unavailable is not None:
        return max(total - _part(spec.max_unavailable, total), 0)
    return _part(spec.min_available or 0, total)


def _part(bound: int | str, total: int) -> int:
    """A number, or a share of the total in percent, rounded up."""
    if isinstance(bound, int):
        return bound
    hundredths = int(bound.rstrip("%")) * total
    return hundredths // 100 + (hundredths % 100 > 0)


def _total(pods: list[Pod], evidence: Evidence) -> int | None:
    """How many pods the owners of these want together; None if an owner is gone or has no scale."""
    wants: dict[str, int] = {}
    for pod in pods:
        for owner in (each for each in pod.meta.owners if each.controller):
            item = _there(owner, pod.meta.namespace, evidence)
            if item is not None and item.kind == "ReplicaSet":
                above = [each for each in item.meta.owners if each.controller]
                if above and above[0].kind == "Deployment":
                    item = _there(above[0], pod.meta.namespace, evidence)
            if item is None or not hasattr(item.spec, "replicas"):
                return None
            wants[item.meta.uid] = 1 if item.spec.replicas is None else item.spec.replicas
    return sum(wants.values())


def _there(owner: Any, namespace: str, evidence: Evidence) -> Any:
    plural = kind_of(owner.api_version, owner.kind).plural
    entry = evidence.store.peek(f"{plural}/{namespace}/{owner.name}")
    item: Any = None if entry is None else entry.value
    return item if item is not None and item.meta.uid == owner.uid else None
