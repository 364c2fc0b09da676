"""Books: all that one life of a scheduler knows, for its own parts and for those who judge it."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable

from actors.framework.cluster_events import wakes_of
from actors.framework.filter import Filter
from actors.framework.snapshot import Snapshot
from actors.scheduler.cluster.cache import SchedulerCache
from actors.scheduler.cluster.nominator import NOMINATION, Nominator
from actors.scheduler.decisions.decision import Decision
from actors.scheduler.memory.leading import Replica
from actors.scheduler.memory.permit import PermitWait
from actors.scheduler.memory.ticks import Tick, Ticks
from actors.scheduler.placing.avoid import HAVE_FAILED, Evictions
from actors.scheduler.queue.fifo import FifoQueue
from actors.scheduler.queue.priority_queue import SchedulingQueue
from actors.scheduler.queue.queued import May, PodQueue, QueuedPod
from actors.scheduler.switches import SchedulerSwitches
from actors.shared.recorder import Recorder
from testbed import Cache, Client, Selector
from testbed.objects import Namespace, Node, Pod, PodDisruptionBudget
from testbed.objects.pod import FAILED, SUCCEEDED

UNDER_WAY = Selector(unlike=(("status.phase", SUCCEEDED), ("status.phase", FAILED)))
"""A pod that is over is gone, for a scheduler (SCH-3)."""
BACKOFF_TICK_MS, STAY_TICK_MS, EXPIRY_TICK_MS = 1000, 30_000, 1000


class Books:
    """Made in `run`. An Invariant finds them as `role.life.shown["scheduler"]`: when a turn has
    ended in which a `cycle` was recorded, they are as that cycle has left them."""

    def __init__(
        self,
        client: Client,
        pods_of: str,
        switches: SchedulerSwitches,
        filters: Iterable[Filter],
        replica: Replica | None = None,
        evictions: Evictions | None = None,
    ) -> None:
        self.client = client
        self.pods_of = pods_of
        """Whose pods it schedules, as their `schedulerName` says it (SCH-1)."""
        self.switches = switches
        self.replica = replica
        """Which of several it is; None: it is the only one."""
        is_new = replica is not None and replica.is_fenced
        self.pods = Cache(client, Pod, UNDER_WAY, quorum=is_new)
        self.nodes = Cache(client, Node, quorum=is_new)
        self.budgets = Cache(client, PodDisruptionBudget)
        self.namespaces = Cache(client, Namespace)
        self.failed = None if evictions is None else Cache(client, Pod, HAVE_FAILED, quorum=is_new)
        """The pods that have failed, if it matters why."""
        self.evictions = evictions
        """What is remembered of them."""
        self.cache = SchedulerCache(switches.assume_ttl_ms)
        self.nominator = Nominator(self.known, NOMINATION[switches.nnn_storage])
        self.queue = _queue(self.nominator, switches, filters)
        self.waiting: dict[str, PermitWait] = {}
        """The pods that wait for their permission, by uid."""
        self.recorder = Recorder(client, pods_of)
        self.in_hand: QueuedPod | None = None
        """The pod whose cycle is under way; None between two."""
        self.last: Decision | None = None
        """The latest decision."""
        self.snapshot: Snapshot | None = None
        """What that was made by; next, the budgets."""
        self.last_budgets: tuple[PodDisruptionBudget, ...] = ()
        self._has_new_budgets = True
        self._expiries: deque[int] = deque()
        self._ticks = Ticks(client, self._timers())
        self._bell = client.queue("ready", idle=True)
        self._has_rung = False
        client.show("scheduler", self)

    async def synced(self) -> None:
        """Wait until every informer has listed (SCH-43)."""
        for cache in (self.pods, self.nodes, self.budgets, self.namespaces, self.failed):
            if cache is not None:
                await cache.synced()

    def begin(self) -> None:
        """It schedules from now on, and its timers run."""
        self._ticks.begin()

    def must_lead(self) -> None:
        """Called before each write: one that may be deposed makes none."""
        if self.replica is not None:
            self.replica.must_lead()

    def known(self, key: str) -> Pod | None:
        """A pod as its informer has it now, by its key."""
        return self.pods.known.get(key)

    def known_now(self, pod: Pod) -> Pod | None:
        """The same, as preemption reads it again."""
        return self.known(pod.key)

    def all_budgets(self) -> tuple[PodDisruptionBudget, ...]:
        """Those its informer knows, by name; the same ones as long as none has changed."""
        if self._has_new_budgets:
            self._has_new_budgets = False
            self.last_budgets = tuple(self.budgets.all())
        return self.last_budgets

    def budgets_changed(self, *_: PodDisruptionBudget) -> None:
        """A budget has come, has changed or is gone."""
        self._has_new_budgets = True

    # -- the queue ------------------------------------------------------------------------------

    async def next(self) -> QueuedPod:
        """The pod to try next; once there is one."""
        while True:
            await self._bell.get()
            self._has_rung = False
            queued = self.queue.pop(self.client.elapsed())
            if queued is not None:
                self.settle()
                return queued

    def move(self, event: str, may: May | None = None) -> None:
        """Something has happened that may let pods fit."""
        self.queue.move(event, self.client.elapsed(), may)
        self.settle()

    def settle(self) -> None:
        """Called when the queue may have changed: if a pod can be tried, say so; and see to it that
        those that wait are not forgotten."""
        if self.queue.is_ready and not self._has_rung:
            self._has_rung = True
            self._bell.put(None)
        self._ticks.look()

    # -- timers ---------------------------------------------------------------------------------

    def phases(self, now_ms: int) -> list[int]:
        """How far off what expires is, and how far each timer is in its period."""
        return [*(due_ms - now_ms for due_ms in self._expiries), *self._ticks.phases(now_ms)]

    def bound(self, pod: Pod) -> None:
        """The binding of that pod has come to its end, whichever."""
        now_ms, ttl_ms = self.client.elapsed(), self.switches.assume_ttl_ms
        self.cache.finish_binding(pod, now_ms)
        if ttl_ms:
            self._expiries.append(now_ms + ttl_ms + 1)
            self._ticks.look()

    def _timers(self) -> Iterable[Tick]:
        queue = self.queue
        yield Tick("flush backoff", BACKOFF_TICK_MS, lambda: queue.backoff_due_ms, self._flush)
        yield Tick("flush unschedulable", STAY_TICK_MS, lambda: queue.stay_due_ms, self._flush_stay)
        yield Tick("expire assumed", EXPIRY_TICK_MS, self._next_expiry, self._expire)

    def _flush(self, now_ms: int) -> None:
        self.queue.flush_backoff(now_ms)
        self.settle()

    def _flush_stay(self, now_ms: int) -> None:
        self.queue.flush_unschedulable(now_ms)
        self.settle()

    def _next_expiry(self) -> int | None:
        return self._expiries[0] if self._expiries else None

    def _expire(self, now_ms: int) -> None:
        while self._expiries and self._expiries[0] <= now_ms:
            self._expiries.popleft()
        for info in self.cache.expire(now_ms):
            self.client.record("expired", pod=info.key)


def _queue(
    nominator: Nominator, switches: SchedulerSwitches, filters: Iterable[Filter]
) -> PodQueue:
    if switches.queue == "fifo":
        return FifoQueue(nominator, switches)
    return SchedulingQueue(nominator, wakes_of(filters), switches)
