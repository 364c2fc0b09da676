"""broken_budgets: victims whose PodDisruptionBudget could not spare them."""

from __future__ import annotations

from typing import ClassVar

from testbed.objects import Pod, PodDisruptionBudget
from testbed.search.comparing.made_room import rooms_in
from testbed.search.comparing.measure import Measure
from testbed.search.comparing.run_history import ClusterThen, RunHistory
from testbed.search.comparing.sample import Figure, Sample, per_run


class BrokenBudgets(Measure):
    """Each victim that leaves fewer healthy pods than a budget over it wants. Counted are the pods
    that are ready then, not what the status of the budget says of them."""

    name: ClassVar[str] = "broken_budgets"
    says: ClassVar[str] = "victims that a disruption budget could not spare"
    figures: ClassVar[tuple[Figure, ...]] = (per_run("broken budgets"),)
    place: ClassVar[int] = 9

    def of(self, history: RunHistory) -> Sample:
        victims = {victim.meta.uid for room in rooms_in(history) for victim in room.victims}
        now, broken = ClusterThen(history), 0
        for commit in history.commits:
            now.take(commit)
            if commit.ends_pod and commit.old.meta.uid in victims:
                broken += any(_is_broken(now, each, commit.old) for each in now.budgets())
        return Sample(broken)


def _is_broken(now: ClusterThen, budget: PodDisruptionBudget, victim: Pod) -> bool:
    if budget.meta.namespace != victim.meta.namespace or not budget.covers(victim.meta):
        return False
    healthy = [
        pod
        for pod in now.pods()
        if pod.meta.namespace == victim.meta.namespace
        and budget.covers(pod.meta)
        and pod.is_ready
        and not pod.meta.is_terminating
    ]
    least = budget.spec.min_available
    wanted = least if isinstance(least, int) else budget.status.desired_healthy
    return len(healthy) < wanted
