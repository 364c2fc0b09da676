"""SchedulingLoop: what one life of a scheduler does, one pod after another (SCH-5).

1. Its informers list; their handlers fill the cache and the queue. One of several replicas waits
until it leads. 2. A cycle takes the most important pod from the queue and decides in one turn. 3. A
pod that fits is assumed on its node; a task of its own binds it. For a pod that does not fit, room
is made within its cycle if that helps; then it is requeued. 4. Before the next cycle, the handlers
bring in what has happened meanwhile.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, ClassVar

import attrs

from actors.framework.filter import Filter
from actors.scheduler.cluster.cache import SchedulerCache
from actors.scheduler.cluster.nominator import NOMINATION, Nominator
from actors.scheduler.decisions.decision import Decision
from actors.scheduler.decisions.facts import facts_of
from actors.scheduler.memory.beliefs import Beliefs, queue_of
from actors.scheduler.memory.books import Books
from actors.scheduler.memory.cycle_record import CycleRecord
from actors.scheduler.memory.digest import digest_of
from actors.scheduler.memory.handlers import listen
from actors.scheduler.memory.informers import Informers
from actors.scheduler.memory.leading import Replica
from actors.scheduler.placing.avoid import avoiding, evictions_of
from actors.scheduler.plugins import PostFilter
from actors.scheduler.policies import decider_of, filters_of
from actors.scheduler.queue.queued import PodQueue, QueuedPod
from actors.scheduler.score import Score
from actors.scheduler.switches import SchedulerSwitches
from actors.scheduler.writes.bind import Binder, Placement
from actors.scheduler.writes.deed import Deed
from actors.scheduler.writes.fail import ERROR, UNSCHEDULABLE, Failure, fail
from actors.scheduler.writes.make_room import make_room
from testbed import Client
from testbed.objects import Pod
from testbed.objects.event import WARNING
from testbed.policy import BUILT_IN, chosen


@attrs.frozen
class SchedulerParts:
    """How a SchedulingLoop makes its parts. A mutant names the one that it replaces."""

    cache: Callable[[int], SchedulerCache] = SchedulerCache
    nominator: Callable[..., Nominator] = Nominator
    """Called as `Nominator`."""
    queue: Callable[[Nominator, SchedulerSwitches, Iterable[Filter]], PodQueue] = queue_of
    decider: Callable[..., Any] = decider_of
    """Called as `policies.decider_of`."""
    binder: Callable[[Books, Sequence[Any]], Binder] = Binder


class SchedulingLoop:
    """One life of a scheduler. Made in `run`."""

    parts: ClassVar[SchedulerParts] = SchedulerParts()

    def __init__(
        self,
        client: Client,
        pods_of: str,
        filters: Sequence[Filter],
        scores: Sequence[Score],
        plugins: Sequence[Callable[[], Any]],
        replica: Replica | None = None,
    ) -> None:
        switches: SchedulerSwitches = client.switches
        own: Sequence[Any] = ()
        if plugins or switches.plugins != BUILT_IN:
            own = chosen(switches.plugins, [make() for make in plugins])
        evictions = evictions_of(switches, client.now)
        avoids, prefers = avoiding(switches, evictions)
        asked = filters_of(switches, filters)
        if avoids:
            asked = (*asked, *avoids)
        informers = Informers(
            client,
            is_fenced=replica is not None and replica.is_fenced,
            watches_failed=evictions is not None,
            only_of=pods_of if switches.pods_seen == "own" else "",
        )
        nominator = self.parts.nominator(
            informers.pod, NOMINATION[switches.nnn_storage],
            nominates_gone=switches.nominates_gone,
        )  # fmt: skip
        beliefs = Beliefs(
            self.parts.cache(switches.assume_ttl_ms),
            nominator,
            self.parts.queue(nominator, switches, asked),
            evictions,
        )
        self.client = client
        self.books = Books(client, pods_of, informers, beliefs, replica)
        self.cycle_record = CycleRecord()
        self.decider = self.parts.decider(switches, asked, scores, client.pick, prefers)
        self.binder = self.parts.binder(self.books, own)
        self.post_filters = [each for each in own if isinstance(each, PostFilter)]
        self._own = own
        client.show("cycle", self.cycle_record)
        client.show("loop", self)

    async def run(self) -> None:
        """Run one cycle after another, until the scheduler crashes."""
        books, record = self.books, self.cycle_record
        listen(books)
        await books.informers.synced()
        if books.replica is not None:
            await books.replica.lead()
        books.timers.begin()
        while True:
            record.current = queued = await books.next()
            if self.is_to_be_skipped(queued.pod):
                books.beliefs.queue.done(queued)
            else:
                await self.cycle(queued)
            record.current = None

    def digest(self, now_ms: int) -> object:
        """All that its further actions depend on, with times relative to now (see digest.py)."""
        return digest_of(self.books, self.cycle_record, now_ms), self.decider, self._own

    def is_to_be_skipped(self, pod: Pod) -> bool:
        """Whether the pod needs no cycle: it is terminating, or assumed already. It is not requeued
        either (SCH-51)."""
        if pod.meta.is_terminating:
            message = f"skip schedule deleting pod: {pod.meta.namespace}/{pod.meta.name}"
            self.books.recorder.note(pod, "FailedScheduling", message, WARNING, action="Scheduling")
            return True
        return self.books.beliefs.cache.is_assumed(pod)

    async def cycle(self, queued: QueuedPod) -> None:
        """Run one scheduling cycle: decide, then place the pod, or make room and requeue it."""
        decision = self.decide(queued.pod)
        deed = Deed(self.books, self.client.record("cycle", facts_of(queued, decision)))
        if cycle_ms := self.books.switches.cycle_ms:
            await self.client.sleep(cycle_ms, f"cycle {queued.pod.key}")
        if decision.node:
            failure = self.binder.begin(Placement(deed, queued, queued.pod, decision.node))
        else:
            failure = await self.refused(deed, decision)
        if failure is not None:
            await fail(deed, queued, failure)

    def decide(self, pod: Pod) -> Decision:
        """Decide by the cluster as it is known in this turn."""
        informers, beliefs, record = self.books.informers, self.books.beliefs, self.cycle_record
        record.snapshot = beliefs.cache.snapshot()
        record.budgets = informers.all_budgets()
        record.decision = self.decider.decide(
            pod, record.snapshot, beliefs.nominator, record.budgets, informers.reread,
            self.client.now(),
        )  # fmt: skip
        if not isinstance(record.decision, Decision):
            who, what = type(self.decider).__name__, type(record.decision).__name__
            raise TypeError(f"{who}.decide gave a {what}: expected a Decision")
        return record.decision

    async def refused(self, deed: Deed, decision: Decision) -> Failure:
        """Help a pod that fits nowhere: make room if the decision says so, or else ask the
        PostFilter plugins, up to the first that can help. Returns what to tell the pod."""
        nominate, preemption = decision.nominate, decision.preemption
        if preemption is not None and preemption.chosen is not None:
            if not await make_room(deed, decision, preemption.chosen):
                nominate = None
        elif decision.refusals and (preemption is None or preemption.code != "Error"):
            for plugin in self.post_filters:
                node = await plugin.post_filter(self.client, decision)
                if node is not None:
                    nominate = node
                    break
        reason = ERROR if decision.is_error else UNSCHEDULABLE
        return Failure(decision.message, reason, nominate, frozenset(decision.failed))
