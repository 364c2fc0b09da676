"""The ReplicaSet controller: keeps a number of pods of one template alive (CTL-3 to CTL-7).

1. It counts the pods it owns that are neither over nor terminating. So a pod that is evicted or
   preempted is replaced at once, before it is gone.
2. If there are too few, it creates the rest; if too many, it deletes those that matter least. It
   does neither while it has not heard of all that it did before (CTL-2).
3. It writes the counts to the status.

It adopts no pod and releases none: a pod is its own by the controllerRef alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import attrs

from actors.controllers.frame import pod_state
from actors.controllers.frame.control_loop import ControlLoop, KeyedController, at_key
from actors.controllers.frame.expectations import Expectations
from actors.controllers.frame.owned import Owned
from actors.controllers.frame.pod_control import PodControl, pod_from
from actors.controllers.frame.ranking import to_delete
from actors.controllers.frame.wanted import wanted_by
from actors.controllers.kinship import Kinship
from actors.shared.owners import controller_of
from testbed import ApiError, Client
from testbed.objects import Condition, Pod, ReplicaSet
from testbed.objects.condition import find, having
from testbed.objects.pod import FAILED
from testbed.objects.workload import ReplicaSetStatus

BURST = 500
"""The most pods that one sync creates or deletes (T-30)."""
FAILURE = "ReplicaFailure"
FIRST_MS, MOST_MS = 10_000, 300_000
"""With `replace_failed=backoff`: how long it waits after the first pod that failed; it doubles."""


class ReplicaSetLoop(ControlLoop):
    """One life of the ReplicaSet controller."""

    def __init__(self, settings: KeyedController, client: Client) -> None:
        super().__init__(settings, client)
        self.sets = self.cache(ReplicaSet, reads=None)
        self.sets.on(add=self._heard, update=self._changed, delete=self._gone)
        self.expected = Expectations(client, self.todo.add)
        self.pods = Owned(
            self.cache(Pod, reads=pod_state.READS), self.sets, self.todo.add, self.expected
        )
        self.kin = Kinship()
        """The ReplicaSets by their owner: those of one Deployment are related."""
        self.control = PodControl(self, self.expected)

    def digest(self, now_ms: int) -> object:
        return super().digest(now_ms), self.expected.digest(now_ms)

    def _heard(self, item: ReplicaSet) -> None:
        self.kin.put(item)
        self.want(item)

    def _changed(self, old: ReplicaSet, new: ReplicaSet) -> None:
        if old.meta.uid != new.meta.uid:
            self._gone(old)
        self._heard(new)

    def _gone(self, item: ReplicaSet) -> None:
        self.kin.drop(item.meta.uid)
        self.expected.forget(item.key)

    async def sync(self, key: str) -> None:
        """Close the gap, then write the counts, also if that has failed."""
        item = at_key(self.sets, key)
        if item is None:
            return
        pods = self.counted(item)
        failed: ApiError | None = None
        if self.expected.are_met(key) and not item.meta.is_terminating:
            try:
                await self.manage(item, pods)
            except ApiError as error:
                failed = error
        # The counts are those from before the sync: what it did is counted when it is heard of.
        await self._write_status(item, pods, failed)
        if failed is not None:
            raise failed

    def counted(self, item: ReplicaSet) -> list[Pod]:
        """The pods that count as replicas."""
        return [pod for pod in self.pods.of(item) if pod_state.is_active(pod)]

    async def manage(self, item: ReplicaSet, pods: list[Pod]) -> None:
        """Create what is missing, or delete what is too much."""
        gap = len(pods) - wanted_by(item)
        if gap < 0 and (in_ms := self._waits_ms(item)) > 0:
            self.todo.add(item.key, in_ms)
        elif gap < 0:
            new = pod_from(item, item.spec.template)
            await self.control.create(item, [new] * min(-gap, BURST))
        elif gap > 0:
            doomed = to_delete(pods, self._related(item), min(gap, BURST), self.client.now())
            await self.control.delete(item, doomed)

    def _waits_ms(self, item: ReplicaSet) -> int:
        """For how long it still backs off from the pods of a ReplicaSet that have failed."""
        if self.client.switches.replace_failed == "at_once":
            return 0
        failed = [pod for pod in self.pods.of(item) if pod.status.phase == FAILED]
        if not failed:
            return 0
        last_ms = max(pod.meta.created_ms or 0 for pod in failed)
        wait_ms: int = min(FIRST_MS * 2 ** (len(failed) - 1), MOST_MS)
        return last_ms + wait_ms - self.client.now()

    def _related(self, item: ReplicaSet) -> Iterable[Pod]:
        """The pods of all ReplicaSets that have the same controller; none if it has none."""
        owner = controller_of(item)
        related = [] if owner is None else self.kin.dependents(owner.uid)
        return (pod for each in related for pod in self.pods.of(each))

    async def _write_status(
        self, item: ReplicaSet, pods: Sequence[Pod], failed: ApiError | None
    ) -> None:
        """Write the counts if they have changed, and look again when a pod becomes available."""
        now_ms, old, min_ready_s = self.client.now(), item.status, item.spec.min_ready_s
        conditions = tuple(each for each in old.conditions if each.type != FAILURE)
        if failed is not None:
            reason = "FailedCreate" if len(pods) < wanted_by(item) else "FailedDelete"
            known = find(old.conditions, FAILURE)
            # Each failure has another text. To write each would wake this controller each time.
            if known is None or known.reason != reason:
                known = Condition(FAILURE, "True", reason, str(failed))
            conditions = having(old.conditions, known, now_ms)
        status = status_of(item, pods, now_ms, conditions)
        if status != old:
            await self.update_status(item, status)
        if status.available_replicas < status.ready_replicas:
            self.todo.add(item.key, pod_state.available_in_ms(pods, min_ready_s, now_ms))


@attrs.frozen
class ReplicaSetController(KeyedController):
    """Keeps `spec.replicas` pods of each ReplicaSet active."""

    loop = ReplicaSetLoop


def status_of(
    item: ReplicaSet, pods: Sequence[Pod], now_ms: int, conditions: tuple[Condition, ...]
) -> ReplicaSetStatus:
    """The counts of these pods, for the spec as it is."""
    labels, min_ready_s = item.spec.template.meta.labels.items(), item.spec.min_ready_s
    ready = [pod for pod in pods if pod_state.is_ready(pod)]
    available = ready
    if min_ready_s:
        available = [pod for pod in ready if pod_state.is_available(pod, min_ready_s, now_ms)]
    return ReplicaSetStatus(
        replicas=len(pods),
        fully_labeled_replicas=sum([labels <= pod.meta.labels.items() for pod in pods]),
        ready_replicas=len(ready),
        available_replicas=len(available),
        observed_generation=item.meta.generation,
        conditions=conditions,
    )
