"""Queued pod: a pod that waits for a scheduler, and what any queue of them does."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Protocol

import attrs

from testbed.objects import Pod

ACTIVE, BACKOFF, UNSCHEDULABLE = "active", "backoff", "unschedulable"
"""Where a pod waits: to be tried now, to have been left alone for long enough, or for news."""


@attrs.define(eq=False)
class QueuedPod:
    """A pod from when it comes to a queue until it leaves it for good, through all its attempts."""

    pod: Pod
    since_ms: int
    """When it was last put into the queue: when it came, or had failed (SCH-17)."""
    first_ms: int
    """When it came."""
    number: int = 0
    """Which pod it was to come, where that matters."""
    attempts: int = 0
    refused_by: frozenset[str] = frozenset()
    """The filters that refused it anywhere when it was last tried; none after an error."""
    is_gated: bool = False
    """Whether it is not to be tried at all yet (SCH-14)."""

    def take(self) -> None:
        """It is to be tried."""
        self.attempts += 1
        self.refused_by = frozenset()

    def rank(self) -> tuple[int, int, str, str]:
        """Its place among those that are to be tried (SCH-8)."""
        meta = self.pod.meta
        return (-self.pod.priority, self.since_ms, meta.namespace, meta.name)


May = Callable[[Pod], bool]
"""Whether an event may help that pod at all, as can be told at once of the node or pod at hand."""


class PodQueue(Protocol):
    """Where pods wait, by their keys: as the real one keeps them, or in one line as of old.

    Plain data: whoever calls says what time it is, and that never goes back. What it knows of
    nominations goes to its Nominator, where the real one tells its own.
    """

    cycle: int
    """How often a pod was taken."""

    @property
    def is_ready(self) -> bool:
        """Whether there is a pod to take."""

    @property
    def backoff_due_ms(self) -> int | None:
        """From when on `flush_backoff` has somebody to let in; None: never, as things are."""

    @property
    def stay_due_ms(self) -> int | None:
        """The same of `flush_unschedulable`."""

    @property
    def has_news(self) -> bool:
        """Whether pods were moved, or would have been, since one was last taken (SCH-16)."""

    @property
    def waiting(self) -> Mapping[str, Sequence[QueuedPod]]:
        """The pods that wait, by where they do."""

    @property
    def places(self) -> Mapping[str, Sequence[str]]:
        """Their keys (INV-16)."""
        return {
            place: tuple(queued.pod.key for queued in waiting)
            for place, waiting in self.waiting.items()
        }

    def add(self, pod: Pod, now_ms: int) -> None:
        """A pod has come that is to be scheduled."""

    def update(self, old: Pod, new: Pod, now_ms: int) -> None:
        """It has changed, and is not assumed; as new if it does not wait (SCH-26)."""

    def delete(self, pod: Pod) -> None:
        """It is gone, or has a node."""

    def pop(self, now_ms: int) -> QueuedPod | None:
        """The pod to try now, which waits no more; None if there is none."""

    def failed(
        self,
        queued: QueuedPod,
        pod: Pod,
        cycle: int,
        now_ms: int,
        refused_by: frozenset[str] = frozenset(),
    ) -> str:
        """It was tried in vain, and is to wait again as the informer has it now; where it does.
        `cycle`, as read now. Empty if it waits already, as one does that has changed meanwhile."""

    def move(self, event: str, now_ms: int, may: May | None = None) -> None:
        """Something has happened in the cluster that may let pods fit (SCH-20)."""

    def flush_backoff(self, now_ms: int) -> None:
        """Let those be tried that have been left alone for long enough (SCH-12)."""

    def flush_unschedulable(self, now_ms: int) -> None:
        """Let those be tried that have waited for news for too long (SCH-13)."""
