"""Which pods a disruption budget protects."""

from __future__ import annotations

from collections.abc import Sequence

from actors.scheduler.reference.cluster import Guest
from testbed.objects import PodDisruptionBudget


def protected(pool: Sequence[Guest], budgets: Sequence[PodDisruptionBudget]) -> set[str]:
    """The uids of those whose going would break a budget: each in turn uses up a disruption of
    every budget that covers him, whether he is spared in the end or not (SCH-84)."""
    left = [budget.status.disruptions_allowed for budget in budgets]
    found = set()
    for guest in pool:
        meta = guest.pod.meta
        for number, budget in enumerate(budgets):
            is_seen_to = meta.name in budget.status.disrupted_pods
            if meta.labels and budget.covers(meta) and not is_seen_to:
                left[number] -= 1
                if left[number] < 0:
                    found.add(guest.uid)
    return found
