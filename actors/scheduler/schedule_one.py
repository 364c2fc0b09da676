"""Office: what one life of a scheduler does, one pod after another (SCH-5).

1. Its informers list; what they tell fills its cache and its queue. One of several replicas waits
until it leads. 2. A cycle takes the most important pod that waits, and decides in one turn. 3. A
pod that fits is assumed on its node and bound by a task of its own. For one that does not, room is
made if that helps, within its cycle; then it waits again. 4. Before the next cycle it hears what
has happened meanwhile.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from actors.framework.filter import Filter
from actors.scheduler.decisions.decision import Decision
from actors.scheduler.decisions.facts import facts_of
from actors.scheduler.memory.books import Books
from actors.scheduler.memory.digest import digest_of
from actors.scheduler.memory.handlers import listen
from actors.scheduler.memory.leading import Replica
from actors.scheduler.placing.avoid import avoiding, evictions_of
from actors.scheduler.plugins import PostFilter
from actors.scheduler.policies import decider_of, filters_of
from actors.scheduler.queue.queued import QueuedPod
from actors.scheduler.score import Score
from actors.scheduler.switches import SchedulerSwitches
from actors.scheduler.writes.bind import Binder, Placement
from actors.scheduler.writes.fail import ERROR, UNSCHEDULABLE, Failure, fail
from actors.scheduler.writes.make_room import make_room
from testbed import Client
from testbed.objects import Pod
from testbed.objects.event import WARNING
from testbed.policy import chosen


class SchedulingLoop:
    """What one life of a scheduler does."""

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
        own = chosen(switches.plugins, [make() for make in plugins])
        evictions = evictions_of(switches, client.now)
        avoids, prefers = avoiding(switches, evictions)
        asked = (*filters_of(switches, filters), *avoids)
        self.client = client
        self.books = Books(client, pods_of, switches, asked, replica, evictions)
        self.decider = decider_of(switches, asked, scores, client.pick, prefers)
        self.binder = Binder(self.books, own)
        self.post_filters = [each for each in own if isinstance(each, PostFilter)]
        self._own = own
        client.show("office", self)

    async def run(self) -> None:
        """One cycle after another."""
        books = self.books
        listen(books)
        await books.synced()
        if books.replica is not None:
            await books.replica.lead()
        books.begin()
        while True:
            books.in_hand = queued = await books.next()
            if not self.is_to_be_skipped(queued.pod):
                await self.cycle(queued)
            books.in_hand = None

    def digest(self, now_ms: int) -> object:
        """What all it will do depends on, with no time but how far it is from now."""
        return digest_of(self.books, now_ms), self.decider, self._own

    def is_to_be_skipped(self, pod: Pod) -> bool:
        """Whether it need not be scheduled any more; then it waits for nothing (SCH-51)."""
        if pod.meta.is_terminating:
            said = f"skip schedule deleting pod: {pod.meta.namespace}/{pod.meta.name}"
            self.books.recorder.note(pod, "FailedScheduling", said, WARNING, action="Scheduling")
            return True
        return self.books.cache.is_assumed(pod)

    async def cycle(self, queued: QueuedPod) -> None:
        """Decide, and see to what follows from that."""
        pod = queued.pod
        decision = self.decide(pod)
        because = self.client.record("cycle", facts_of(queued, decision))
        if decision.node:
            failure = self.binder.begin(Placement(queued, pod, decision.node, because))
        else:
            failure = await self.refused(decision, because)
        if failure is not None:
            await fail(self.books, queued, failure, because)

    def decide(self, pod: Pod) -> Decision:
        """By the cluster as it is known in this turn."""
        books = self.books
        books.snapshot = books.cache.snapshot()
        books.last = self.decider.decide(
            pod, books.snapshot, books.nominator, books.all_budgets(), books.known_now,
            self.client.now(),
        )  # fmt: skip
        if not isinstance(books.last, Decision):
            who, what = type(self.decider).__name__, type(books.last).__name__
            raise TypeError(f"{who}.decide gave a {what}: expected a Decision")
        return books.last

    async def refused(self, decision: Decision, because: int) -> Failure:
        """Make room for it, if that was found to help, or else let plugins do something for it, up
        to the first that can; what it is to be told."""
        nominate, preemption = decision.nominate, decision.preemption
        if preemption is not None and preemption.chosen is not None:
            if not await make_room(self.books, decision, preemption.chosen, because):
                nominate = None
        elif decision.refusals and (preemption is None or preemption.code != "Error"):
            for plugin in self.post_filters:
                node = await plugin.post_filter(self.client, decision)
                if node is not None:
                    nominate = node
                    break
        reason = ERROR if decision.is_error else UNSCHEDULABLE
        return Failure(decision.message, reason, nominate, frozenset(decision.failed))
