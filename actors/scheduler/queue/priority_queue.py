"""Scheduling queue: the priority queue of Kubernetes 1.26 (SCH-7).

A pod is in one of three places. *Active* pods are tried next, by priority. Pods in *backoff* have
failed and must pause first. *Unschedulable* pods have failed too, and wait for a cluster event that
may let them fit.

A *move* (`moveAllToActiveOrBackoffQ` in Kubernetes) requeues the unschedulable pods that wait for
an event. Kubernetes goes through them in the order of a hash map. Here the order cannot matter:
each pod is judged by itself, and its place in the next heap depends on its own priority and time.
So this is not a `pick` (GEN-6).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from actors.framework.cluster_events import (
    GATES,
    NODE_DELETED,
    POD_ADDED,
    POD_UPDATED,
    TIMEOUT,
    is_awaited,
    is_changed,
)
from actors.scheduler.cluster.nominator import Nominator
from actors.scheduler.queue.heap import Heap
from actors.scheduler.queue.in_flight import EventList
from actors.scheduler.queue.queued import (
    ACTIVE,
    BACKOFF,
    UNSCHEDULABLE,
    Attempt,
    May,
    PodQueue,
    QueuedPod,
)
from actors.scheduler.queue.unschedulable import Unschedulable
from actors.scheduler.switches import SchedulerSwitches
from testbed.objects import Pod

PAUSES_MS, PAUSE_MS_MAX = (1000, 1000, 2000, 4000, 8000), 10_000
"""The backoff after each number of attempts, and after all more."""
STAY_MS_MAX = 5 * 60_000
"""A pod that has waited longer than this for an event is tried without one (SCH-13)."""


def backoff_until(queued: QueuedPod) -> int:
    """When its backoff ends: 1 s after its first attempt, then doubled, up to 10 s (SCH-11)."""
    # The backoff is not stored: it follows from the attempts and from the time of the last failure.
    # So a pod that an event moves while its backoff still runs goes to the backoff heap for the
    # rest of that time, and no event can make it retry any faster.
    attempts = queued.attempts
    pause_ms = PAUSES_MS[attempts] if attempts < len(PAUSES_MS) else PAUSE_MS_MAX
    return queued.since_ms + pause_ms


def _by_backoff(queued: QueuedPod) -> tuple[int, int]:
    return (backoff_until(queued), queued.number)


class SchedulingQueue(PodQueue):
    """A PodQueue with three places. `wakes` says which events each filter waits for."""

    def __init__(
        self,
        nominator: Nominator,
        wakes: Mapping[str, frozenset[str]],
        switches: SchedulerSwitches,
    ) -> None:
        self._nominator = nominator
        self._wakes = wakes
        self._moves_everything = switches.requeue_scope == "everything"
        self._moves_when_cleared = switches.requeue_on_nnn_clear
        self._backs_off = switches.backs_off
        self._active: Heap[QueuedPod] = Heap(QueuedPod.rank)
        self._backoff: Heap[QueuedPod] = Heap(_by_backoff)
        self._unschedulable = Unschedulable()
        self._puts = 0
        """How many pods were put into the queue, on arrival or after a failed attempt."""
        self.cycle = 0
        self._move_request_cycle = -1
        """The cycle in which a move was last requested, also if it moved no pod (SCH-15)."""
        self._events: EventList | None = None
        """What replaces that in later versions."""
        if switches.in_flight != "move_cycle":
            self._events = EventList(
                wakes,
                forgets=switches.in_flight == "bug_event_list",
                is_any_awaited=self._moves_everything,
            )

    @property
    def is_ready(self) -> bool:
        return bool(self._active)

    @property
    def backoff_due_ms(self) -> int | None:
        first = self._backoff.first()
        return None if first is None else backoff_until(first)

    @property
    def stay_due_ms(self) -> int | None:
        since_ms = self._unschedulable.since_ms()
        return None if since_ms is None else since_ms + STAY_MS_MAX + 1

    @property
    def news(self) -> object:
        if self._events is not None:
            return self._events.digest()
        return self._move_request_cycle >= self.cycle

    @property
    def waiting(self) -> Mapping[str, Sequence[QueuedPod]]:
        return {
            ACTIVE: tuple(self._active.values()),
            BACKOFF: tuple(self._backoff.values()),
            UNSCHEDULABLE: tuple(self._unschedulable.values()),
        }

    def add(self, pod: Pod, now_ms: int) -> None:
        self._drop(pod.key)
        self._puts += 1
        if self._activate(QueuedPod(pod, now_ms, now_ms, self._puts)):
            self._nominator.nominate(pod)

    def update(self, old: Pod, new: Pod, now_ms: int) -> None:
        key = new.key
        for place in (self._active, self._backoff):
            queued = place.get(key)
            if queued is not None:
                queued.pod = new
                self._nominator.update(old, new)
                place.put(key, queued)
                return
        queued = self._unschedulable.get(key)
        if queued is None:
            self.add(new, now_ms)
            return
        queued.pod = new
        self._nominator.update(old, new)
        nominated_to = self._nominator.said
        is_cleared = self._moves_when_cleared and nominated_to(old) and not nominated_to(new)
        if is_changed(old, new) or is_cleared:
            self._move_one(queued, now_ms)

    def delete(self, pod: Pod) -> None:
        self._nominator.drop(pod)
        self._drop(pod.key)

    def done(self, queued: QueuedPod) -> None:
        if self._events is not None and queued.flight is not None:
            self._events.end(queued.flight)
        super().done(queued)

    def pop(self, now_ms: int) -> QueuedPod | None:
        if not self._active:
            return None
        self.cycle += 1
        queued = self._active.take()
        queued.begin_attempt()
        if self._events is not None:
            queued.flight = self._events.begin()
        return queued

    def has(self, key: str) -> bool:
        return key in self._active or key in self._backoff or key in self._unschedulable

    def requeue(self, attempt: Attempt) -> str:
        self._puts += 1
        attempt.queued.number = self._puts
        # While a pod is tried it is in no place, so a move cannot reach it. Without this check a
        # wake-up would be lost: the event comes during the attempt, then the pod is put among the
        # unschedulable ones, and waits for an event that has already been. So a pod goes to backoff
        # if any move was requested in its cycle or a later one, whatever the event was. The price
        # is an attempt more than needed, which Kubernetes pays too (SCH-18).
        if self._has_missed(attempt):
            place, heap = (BACKOFF, self._backoff) if self._backs_off else (ACTIVE, self._active)
            heap.put(attempt.pod.key, attempt.queued)
            return place
        self._unschedulable.put(attempt.queued)
        return UNSCHEDULABLE

    def move(self, event: str, now_ms: int, may: May | None = None) -> bool:
        """Requeue the unschedulable pods that wait for this event.

        Three events are special (SCH-23, SCH-24, SCH-28):

        - pod added: moves only pods with required pod affinity, and of those only the ones that
          `may` accepts.
        - pod updated: the same. With `requeue_scope=everything` it moves all, and asks no `may`.
        - node deleted: moves no pod. With `requeue_scope=everything` it moves all.
        """
        if self._moves_everything:
            is_for_near = event == POD_ADDED
            may = may if is_for_near else None
        elif event == NODE_DELETED:
            return False
        else:
            is_for_near = event in (POD_ADDED, POD_UPDATED)
        has_moved = False
        for group in self._unschedulable.groups():
            refused_by, must_be_near = group
            if is_for_near and not must_be_near:
                continue
            if self._moves_everything or is_awaited(event, refused_by, self._wakes):
                for queued in self._unschedulable.of(group):
                    if may is None or may(queued.pod):
                        self._move_one(queued, now_ms)
                        has_moved = True
        # Also if nothing was moved: the pod that this event would help may be in its attempt.
        self._was_requested(event)
        return has_moved

    def flush_backoff(self, now_ms: int) -> None:
        while (due_ms := self.backoff_due_ms) is not None and due_ms <= now_ms:
            self._activate(self._backoff.take())

    def flush_unschedulable(self, now_ms: int) -> None:
        late = self._unschedulable.before(now_ms - STAY_MS_MAX)
        if late:
            for queued in late:
                self._move_one(queued, now_ms)
            self._was_requested(TIMEOUT)

    def _was_requested(self, event: str) -> None:
        """A move was requested."""
        self._move_request_cycle = self.cycle
        if self._events is not None:
            self._events.note(event)

    def _has_missed(self, attempt: Attempt) -> bool:
        """Whether a pod has to be tried again, for what came while it was tried."""
        flight = attempt.queued.flight
        if self._events is not None and flight is not None:
            return self._events.can_help(flight, attempt.refused_by)
        return self._move_request_cycle >= attempt.cycle

    def _move_one(self, queued: QueuedPod, now_ms: int) -> None:
        """Move an unschedulable pod to backoff while its backoff runs, else to the active pods. One
        with gates stays."""
        key = queued.pod.key
        if self._backs_off and not queued.is_gated and backoff_until(queued) > now_ms:
            self._unschedulable.drop(key)
            self._backoff.put(key, queued)
        elif self._activate(queued):
            self._unschedulable.drop(key)

    def _activate(self, queued: QueuedPod) -> bool:
        """Put it among the active pods and return True; one with gates is unschedulable instead."""
        queued.is_gated = bool(queued.pod.spec.scheduling_gates)
        if queued.is_gated:
            queued.refused_by |= {GATES}
            self._unschedulable.put(queued)
        else:
            self._active.put(queued.pod.key, queued)
        return not queued.is_gated

    def _drop(self, key: str) -> None:
        self._active.drop(key)
        self._backoff.drop(key)
        self._unschedulable.drop(key)
