"""Budgets of disruptions are counted (INV-18)."""

from __future__ import annotations

from actors.scheduler.invariants.cycles import Cycle, CycleClaim


class BudgetsAreCounted(CycleClaim):
    """Of one decision's victims, those that are taken for unprotected are no more than each budget
    that covers them allows."""

    name = "budgets_are_counted"

    def said_of(self, cycle: Cycle) -> str:
        chosen = cycle.chosen
        if chosen is None or cycle.switches.pdb_mode == "ignore":
            return ""
        for budget in cycle.books.last_budgets:
            covered = [
                pod
                for pod in chosen.victims
                if budget.covers(pod.meta) and pod.meta.name not in budget.status.disrupted_pods
            ]
            allowed = max(budget.status.disruptions_allowed, 0)
            if len(covered) - chosen.violations > allowed:
                said = f"{len(covered)} of its pods go for {cycle.pod.key}"
                return f"{budget.key} allows {allowed} disruptions, and {said} as if it did"
        return ""
