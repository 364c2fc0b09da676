"""Disruption budgets are counted (INV-18)."""

from __future__ import annotations

from actors.scheduler.invariants.cycles import Cycle, CycleClaim
from testbed.turns.found import TOO_MANY, Found


class BudgetsAreCounted(CycleClaim):
    """Of the victims of one decision, no budget covers more than it allows, unless the rest count
    as violations."""

    name = "budgets_are_counted"
    breach_reason = TOO_MANY

    def breach_in(self, cycle: Cycle) -> str | Found:
        chosen = cycle.chosen
        if chosen is None or cycle.switches.pdb_mode == "ignore":
            return ""
        for budget in cycle.record.budgets:
            covered = [
                pod
                for pod in chosen.victims
                if budget.covers(pod.meta) and pod.meta.name not in budget.status.disrupted_pods
            ]
            allowed = max(budget.status.disruptions_allowed, 0)
            if len(covered) - chosen.violations > allowed:
                go = f"{len(covered)} of its pods go for {cycle.pod.key}"
                text = f"{budget.key} allows {allowed} disruptions, and {go} as if it did"
                return Found.of(text, budget, *covered, fields="status.disruptions_allowed")
        return ""
