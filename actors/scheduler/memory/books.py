"""Books: all that one life of a scheduler knows, and the queue as its loop uses it."""

from __future__ import annotations

from actors.scheduler.memory.beliefs import Beliefs
from actors.scheduler.memory.informers import Informers
from actors.scheduler.memory.leading import Replica
from actors.scheduler.memory.timers import Timers
from actors.scheduler.queue.queued import May, QueuedPod
from actors.scheduler.switches import SchedulerSwitches
from actors.shared.recorder import Recorder
from testbed import Client


class Books:
    """Made in `run`. An Invariant finds it as `role.life.shown["scheduler"]`."""

    def __init__(
        self,
        client: Client,
        pods_of: str,
        informers: Informers,
        beliefs: Beliefs,
        replica: Replica | None = None,
    ) -> None:
        self.client = client
        self.pods_of = pods_of
        """The `schedulerName` of the pods that it schedules (SCH-1)."""
        self.switches: SchedulerSwitches = client.switches
        self.informers = informers
        self.beliefs = beliefs
        self.replica = replica
        """Which of several replicas it is; None: it is the only one."""
        self.recorder = Recorder(client, pods_of)
        self.timers = Timers(client, beliefs, self.switches.assume_ttl_ms, self.queue_changed)
        self._bell = client.queue("ready", idle=True)
        self._has_rung = False
        client.show("scheduler", self)

    def must_lead(self) -> None:
        """Call this before each write: a fenced replica that may be deposed ends here."""
        if self.replica is not None:
            self.replica.must_lead()

    async def next(self) -> QueuedPod:
        """Wait for a pod to schedule, and take it from the queue."""
        while True:
            await self._bell.get()
            self._has_rung = False
            now_ms = self.client.elapsed()
            queued = self.beliefs.queue.pop(now_ms)
            if queued is not None:
                # It was active: no timer waits for such a pod.
                self._ring()
                if self.timers.is_late(now_ms):
                    self.timers.look(now_ms)
                return queued

    def move(self, event: str, may: May | None = None) -> None:
        """An event has happened that may let unschedulable pods fit: move those back (SCH-20)."""
        now_ms = self.client.elapsed()
        # Nearly all events move no pod. Then the queue is as it was when the timers were last set.
        if self.beliefs.queue.move(event, now_ms, may) or self.timers.is_late(now_ms):
            self.queue_changed(now_ms)

    def queue_changed(self, now_ms: int | None = None) -> None:
        """Call this whenever the queue may have changed, with the time if it was read: it wakes the
        loop if a pod is ready, and sets the timers again."""
        self._ring()
        self.timers.look(self.client.elapsed() if now_ms is None else now_ms)

    def _ring(self) -> None:
        """Wake the loop if a pod is ready."""
        # The bell holds one ring at most. `next` takes one pod for each ring, and rings again if
        # more are ready; so the loop wakes once for each pod.
        if not self._has_rung and self.beliefs.queue.is_ready:
            self._has_rung = True
            self._bell.put(None)
