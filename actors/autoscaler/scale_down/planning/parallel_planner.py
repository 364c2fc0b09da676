"""ParallelPlanner: plans removals that add up, so that several nodes may go side by side.

It is another planner of 1.26, which is off by default. A node that is found unneeded is no place
for the pods of the next one, and has used up the room and the budgets that its own pods need. So no
two removals count on the same room, and none has to wait for another one to end.
"""

from __future__ import annotations

from collections.abc import Sequence

import attrs

from actors.autoscaler.pass_record import DELETE_STARTED
from actors.autoscaler.scale_down.drainability import covers
from actors.autoscaler.scale_down.planning.eligibility import (
    candidates,
    eligible,
    utilization,
)
from actors.autoscaler.scale_down.planning.outlook import Outlook
from actors.autoscaler.scale_down.planning.planner import Chosen, ScaleDownPlanner
from actors.autoscaler.scale_down.planning.unneeded import Removal
from testbed.objects import Pod, PodDisruptionBudget

Budgets = Sequence[PodDisruptionBudget]


class ParallelPlanner(ScaleDownPlanner):
    """The memory of scale-down if drains are parallel."""

    def update(self, outlook: Outlook) -> None:
        """Find the nodes that are unneeded now, all together. Those that are being deleted are
        neither looked at nor destinations."""
        settings, now_ms = self._settings, outlook.now_ms
        self.unremovable.begin(outlook.simulation.nodes, now_ms)
        self._forget_imagined(outlook)
        going = {*self._deletions.empty, *self._deletions.drained}
        looked_at = candidates(outlook)
        staying = [name for name in looked_at if name not in going]
        found = eligible(outlook, staying, self.unremovable, settings)
        places = {node.meta.name for node in outlook.nodes} - going
        removals, budgets = [], outlook.budgets
        outlook.simulation.fork()
        for name in outlook.order("candidates for scale-down", found.names):
            verdict = self._trials.try_one(outlook, name, places, budgets, is_kept=True)
            if isinstance(verdict, Removal):
                is_risky = not _go_at_once(verdict.pods, budgets)
                removals.append(attrs.evolve(verdict, is_risky=is_risky))
                places.discard(name)
                budgets = _spent(verdict.pods, budgets)
            else:
                until_ms = now_ms + settings.unremovable_recheck_ms
                self.unremovable.add(name, verdict, until_ms)
        outlook.simulation.revert()
        self.unneeded.update(removals, now_ms)
        self._packer.age()
        infos = [outlook.simulation.get(name) for name in looked_at if name in going]
        shares = {i.name: utilization(i, now_ms, settings) for i in infos if i is not None}
        self.utilization = {**found.utilization, **shares}

    def choose(self, outlook: Outlook) -> Chosen:
        """Choose the nodes that go now: empty ones first, then those that are safe to drain. How
        many of them really go depends on the number that may go at once."""
        removable = self._removable(outlook, self._left(outlook))
        names = outlook.order("nodes to delete", list(removable))
        ordered = [removable[name] for name in names]
        ordered.sort(key=lambda each: (bool(each.pods), each.is_risky))
        chosen = ordered[: self._settings.max_empty_bulk_delete]
        return Chosen(
            DELETE_STARTED,
            tuple(each.node for each in chosen if not each.pods),
            tuple(each.node for each in chosen if each.pods),
        )


def _go_at_once(pods: Sequence[Pod], budgets: Budgets) -> bool:
    """Whether budgets allow that all of these pods are evicted at the same time."""
    return all(
        sum(covers(budget, pod) for pod in pods) <= max(budget.status.disruptions_allowed, 0)
        for budget in budgets
    )


def _spent(pods: Sequence[Pod], budgets: Budgets) -> Budgets:
    """The budgets once these pods are evicted."""
    left = []
    for budget in budgets:
        count = sum(covers(budget, pod) for pod in pods)
        allowed = budget.status.disruptions_allowed - count
        status = attrs.evolve(budget.status, disruptions_allowed=allowed)
        left.append(attrs.evolve(budget, status=status))
    return left
