"""Budgets: which pods a PodDisruptionBudget protects."""

from __future__ import annotations

from collections.abc import Sequence

from actors.scheduler.reference.cluster import Guest
from testbed.objects import PodDisruptionBudget


def protected(pool: Sequence[Guest], budgets: Sequence[PodDisruptionBudget]) -> set[str]:
    """The uids of the pods whose eviction would violate a budget (SCH-84).

    Each pod in turn uses up one disruption of every budget that covers it, also if it is reprieved
    in the end.
    """
    left = [budget.status.disruptions_allowed for budget in budgets]
    found = set()
    for guest in pool:
        meta = guest.pod.meta
        for number, budget in enumerate(budgets):
            is_counted = meta.name in budget.status.disrupted_pods
            if meta.labels and budget.covers(meta) and not is_counted:
                left[number] -= 1
                if left[number] < 0:
                    found.add(guest.uid)
    return found
