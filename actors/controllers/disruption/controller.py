"""The disruption controller: keeps the status of each PodDisruptionBudget right (CTL-20 to CTL-25).

1. A budget is counted when it or a pod that it covers changes, and when a granted eviction was not
   carried out in two minutes.
2. What its Caches hold is counted (`counting.py`) and written at the revision of its Cache. After
   a conflict the budget is counted again later.
3. A budget that cannot be counted, or not be written, is set to allow nothing.
4. A DisruptionTarget that nothing has acted upon for two minutes is set to False.

Left out: ReplicationControllers, and custom resources that have a scale.
"""

from __future__ import annotations

from functools import partial
from typing import Any, ClassVar

import attrs

from actors.controllers.disruption import counting
from actors.controllers.disruption.covered_pods import CoveredPods
from actors.controllers.disruption.scales import scale_of
from actors.controllers.frame.control_loop import ControlLoop, KeyedController
from actors.controllers.frame.pod_status import patch_status
from actors.shared.workqueue import AGAIN_MS, Workqueue, is_done
from testbed import ApiError, Cache, Client, Conflict
from testbed.objects import (
    Condition,
    Deployment,
    Object,
    Pod,
    PodDisruptionBudget,
    PodDisruptionBudgetStatus,
    ReplicaSet,
    StatefulSet,
)
from testbed.objects.calendar import whole_second
from testbed.objects.event import WARNING
from testbed.objects.form import to_tree

SCALE = ("meta.owners", "spec.replicas")


class DisruptionLoop(ControlLoop):
    """One life of it: which pods each budget covers, and what it has queued."""

    def __init__(self, settings: DisruptionController, client: Client) -> None:
        super().__init__(settings, client)
        self._stale = Workqueue(client, "stale")
        self._known = known = CoveredPods()
        budgets = self.cache(PodDisruptionBudget, reads=None)
        pods = self.cache(Pod, reads=None)
        self._owners: dict[str, Cache[Any]] = {
            kind.kind: self.cache(kind, reads=SCALE) for kind in settings.scaled
        }
        heard = self._heard_budget
        budgets.on(add=heard, update=lambda _, new: heard(new), delete=known.drop_budget)
        pods.on(add=self._heard, update=lambda _, new: self._heard(new), delete=self._gone)

    async def run(self) -> None:
        """Count budgets, and reset stale conditions in a task beside that."""
        self.client.spawn("stale", self._reset_stale)
        await super().run()

    def digest(self, now_ms: int) -> object:
        return self.todo.digest(), self._stale.digest()

    # -- what it hears --------------------------------------------------------------------------

    def _heard_budget(self, budget: PodDisruptionBudget) -> None:
        self._known.put_budget(budget)
        self.want(budget)

    def _gone(self, pod: Pod) -> None:
        for key in self._known.drop_pod(pod):
            self.todo.add(key)

    def _heard(self, pod: Pod) -> None:
        for key in self._known.put_pod(pod):
            self.todo.add(key)
        stale_in_ms = counting.stale_in_ms(pod, self.client.now())
        if stale_in_ms is not None:
            self._stale.add(pod.key, stale_in_ms)

    # -- budgets --------------------------------------------------------------------------------

    async def sync(self, key: str) -> None:
        """Count a budget and write it."""
        budget = self._known.budget(key)
        if budget is None:
            return
        now_ms = self.client.now()
        pods = self._known.pods_of(key)
        found = self.count(budget, pods, now_ms)
        if isinstance(found, counting.Uncountable):
            self.note(budget, "CalculateExpectedPodCountFailed", found.why, WARNING)
            await self._fail_safe(budget, found.why)
            return
        for pod in counting.overdue(budget, pods, now_ms):
            message = f"Pod was expected by PDB {budget.meta.name} to be deleted but it wasn't"
            self.note(pod, "NotDeleted", message, WARNING)
        try:
            await self._write(budget, found.status)
        except Conflict:
            # Something has written the budget since: most likely an eviction, which was counted on
            # the new status. What was counted on the old one must not be written over it.
            raise
        except ApiError as error:
            await self._fail_safe(budget, error.reason)
            return
        if found.recheck_ms is not None:
            # An entry runs out after its last millisecond, not in it.
            self.todo.add(key, found.recheck_ms + AGAIN_MS)

    def count(
        self, budget: PodDisruptionBudget, pods: list[Pod], now_ms: int
    ) -> counting.Counted | counting.Uncountable:
        """The status that a budget should have."""
        return counting.counted(budget, pods, partial(scale_of, self._owner), now_ms)

    def _owner(self, kind: str, namespace: str, name: str) -> Any:
        cache = self._owners.get(kind)
        return None if cache is None else cache.get(name, namespace)

    async def _write(self, budget: PodDisruptionBudget, status: PodDisruptionBudgetStatus) -> None:
        if status == budget.status:
            return
        client = self.client
        try:
            await client.update(attrs.evolve(budget, status=status), subresource="status")
        except Conflict:
            if not client.switches.bug_conflict_writes_old_status:
                raise
            meta = budget.meta
            there = await client.get(PodDisruptionBudget, meta.name, meta.namespace)
            await client.update(attrs.evolve(there, status=status), subresource="status")

    async def _fail_safe(self, budget: PodDisruptionBudget, why: str) -> None:
        """Let a budget allow nothing."""
        await self._write(budget, counting.fail_safe(budget, why, self.client.now()))

    # -- conditions -----------------------------------------------------------------------------

    async def _reset_stale(self) -> None:
        """Reset one stale condition after another; one that failed is requeued."""
        while True:
            key = await self._stale.take()
            pod, has_failed = self._known.pod(key), False
            stale_in_ms = None if pod is None else counting.stale_in_ms(pod, self.client.now())
            if stale_in_ms:
                self._stale.add(key, stale_in_ms)
            elif pod is not None and stale_in_ms == 0:
                has_failed = not await is_done(self._reset(pod))
            self._stale.done(key, has_failed=has_failed)

    async def _reset(self, pod: Pod) -> None:
        now_ms = self.client.now()
        reset = Condition(counting.TARGET, "False", since_ms=whole_second(now_ms))
        # The patch merges into what is there: the old reason and message go only if it says so.
        condition = {"reason": None, "message": None, **to_tree(reset)}
        await patch_status(self.client, pod, [condition])


@attrs.frozen
class DisruptionController(KeyedController):
    """Counts for each PodDisruptionBudget how many of its pods are healthy, and how many may go."""

    loop: ClassVar[type[ControlLoop]] = DisruptionLoop

    name: str = "disruption-controller"
    scaled: tuple[type[Object], ...] = (Deployment, ReplicaSet, StatefulSet)
    """The kinds of owners whose `replicas` it knows."""
