"""Budgets: which potential victims a PodDisruptionBudget protects."""

from __future__ import annotations

from collections.abc import Sequence

from actors.framework.podinfo import PodInfo
from testbed.objects import PodDisruptionBudget


class Budgets:
    """The disruptions that each budget still allows, from its status as the informer has it."""

    def __init__(self, budgets: Sequence[PodDisruptionBudget]) -> None:
        self.of = tuple(budgets)
        self._by_namespace: dict[str, list[PodDisruptionBudget]] = {}
        for budget in budgets:
            self._by_namespace.setdefault(budget.meta.namespace, []).append(budget)

    def split(self, pods: Sequence[PodInfo]) -> tuple[list[PodInfo], list[PodInfo]]:
        """Split into the protected pods, which it would break a budget to evict, and the others
        (SCH-84).

        Each group keeps the order given. Every pod uses up each budget that covers it, even if it
        is reprieved later.
        """
        if not self._by_namespace:
            return [], list(pods)
        left: dict[str, int] = {}
        violating: list[PodInfo] = []
        others: list[PodInfo] = []
        for info in pods:
            (violating if self._breaks_one(info, left) else others).append(info)
        return violating, others

    def _breaks_one(self, info: PodInfo, left: dict[str, int]) -> bool:
        """Count one disruption in each budget that covers the pod; whether one has none left."""
        meta = info.pod.meta
        is_broken = False
        if not meta.labels:
            return False
        for budget in self._by_namespace.get(meta.namespace, ()):
            if not budget.covers(meta) or meta.name in budget.status.disrupted_pods:
                continue
            allowed = left.get(budget.key, budget.status.disruptions_allowed) - 1
            left[budget.key] = allowed
            is_broken = is_broken or allowed < 0
        return is_broken
