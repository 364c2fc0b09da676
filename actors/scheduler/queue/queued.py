"""The interface of a scheduling queue: what it keeps of a pod, and what a scheduler asks of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Protocol

import attrs

from actors.scheduler.cluster.nominator import Nominator
from actors.scheduler.queue.in_flight import Flight
from testbed.objects import Pod

ACTIVE, BACKOFF, UNSCHEDULABLE = "active", "backoff", "unschedulable"
"""The three places of a queue: pods to try now, pods in backoff, pods that wait for an event."""


@attrs.define(eq=False)
class QueuedPod:
    """A pod with its queueing data, kept through all its attempts until it leaves for good."""

    pod: Pod
    since_ms: int
    """When it was last put into the queue: on its arrival, or after a failed attempt (SCH-17)."""
    first_ms: int
    """When it first arrived."""
    number: int = 0
    """Its place in the order in which pods were put into the queue. The FIFO queue counts arrivals
    alone; the priority queue counts attempts that failed, too."""
    attempts: int = 0
    refused_by: frozenset[str] = frozenset()
    """The filters that refused it on any node in its last attempt; empty after an error."""
    is_gated: bool = False
    """Whether scheduling gates keep it from being tried (SCH-14)."""
    flight: Flight | None = None
    """While it is in flight: what it remembers from when it was popped, if the queue keeps a list
    of events."""

    def begin_attempt(self) -> None:
        """Count one more attempt, and forget which filters refused the last one."""
        self.attempts += 1
        self.refused_by = frozenset()

    def rank(self) -> tuple[int, int, int]:
        """Its place among the active pods: by priority, then by when it was last put into the queue
        (SCH-8)."""
        # Kubernetes compares nanoseconds, and no two pods have the same. So within a millisecond,
        # in which any number of turns may be, their order decides.
        return (-self.pod.priority, self.since_ms, self.number)


@attrs.frozen
class Attempt:
    """A scheduling attempt that has failed, as the queue needs to know it."""

    queued: QueuedPod
    """The entry that `pop` gave."""
    pod: Pod
    """The same pod as the informer has it now."""
    cycle: int
    """The queue's `cycle`, read when the attempt failed (SCH-16)."""
    now_ms: int
    refused_by: frozenset[str] = frozenset()
    """The filters that refused it on any node."""


May = Callable[[Pod], bool]
"""A cheap pre-check: whether the node or pod of an event can help this pod at all (SCH-23)."""


class PodQueue(Protocol):
    """Holds the pods that wait to be scheduled, by key: `SchedulingQueue` or `FifoQueue`.

    It is plain data: the caller says what time it is, and time never goes back. As in Kubernetes,
    the queue tells the Nominator which nominations come and go with its pods.
    """

    cycle: int
    """How many pods were popped."""
    _nominator: Nominator

    @property
    def is_ready(self) -> bool:
        """Whether there is a pod to pop."""

    @property
    def backoff_due_ms(self) -> int | None:
        """When `flush_backoff` will next have a pod to activate; None: no pod is in backoff."""

    @property
    def stay_due_ms(self) -> int | None:
        """The same for `flush_unschedulable`."""

    @property
    def news(self) -> object:
        """What the queue would go by if an attempt failed now: whether a move was requested since
        the last pop (SCH-16); with a list of events, what the pods in flight have seen."""

    @property
    def waiting(self) -> Mapping[str, Sequence[QueuedPod]]:
        """The pods in each place."""

    @property
    def places(self) -> Mapping[str, Sequence[str]]:
        """The keys of the pods in each place (INV-16)."""
        return {
            place: tuple(queued.pod.key for queued in waiting)
            for place, waiting in self.waiting.items()
        }

    def add(self, pod: Pod, now_ms: int) -> None:
        """Add a new pod without a node."""

    def update(self, old: Pod, new: Pod, now_ms: int) -> None:
        """Take over a change of a pod that is not assumed; add it if it is not queued (SCH-26)."""

    def delete(self, pod: Pod) -> None:
        """Remove a pod that was deleted or bound."""

    def done(self, queued: QueuedPod) -> None:
        """A pod that was popped is in flight no longer: its attempt has failed and it was requeued,
        if it was to be, or its binding cycle is over."""
        queued.flight = None

    def pop(self, now_ms: int) -> QueuedPod | None:
        """Take out the pod to try now; None if there is none."""

    def failed(self, attempt: Attempt) -> str:
        """Requeue a pod whose attempt has failed, and return its new place.

        Empty if the pod is queued already: it has changed meanwhile, and `update` added it.
        """
        if self.has(attempt.pod.key):
            return ""
        queued = attempt.queued
        queued.pod, queued.since_ms = attempt.pod, attempt.now_ms
        queued.refused_by = attempt.refused_by
        self._nominator.nominate(attempt.pod)
        return self.requeue(attempt)

    def has(self, key: str) -> bool:
        """Called by `failed`: whether the pod of that key is in any place."""

    def requeue(self, attempt: Attempt) -> str:
        """Called by `failed`, once the entry is up to date: put it back; in which place it is."""

    def move(self, event: str, now_ms: int, may: May | None = None) -> bool:
        """A cluster event may let pods fit: requeue those that wait for it (SCH-20). Whether the
        queue has changed."""

    def flush_backoff(self, now_ms: int) -> None:
        """Activate the pods whose backoff is over (SCH-12)."""

    def flush_unschedulable(self, now_ms: int) -> None:
        """Requeue the pods that have waited for an event for too long (SCH-13)."""
