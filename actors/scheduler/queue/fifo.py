"""FIFO queue: pods are tried in the order of their arrival, whatever their priority (SCH-29).

This is how Kubernetes did it before it had priorities. A pod that fails backs off, then goes to
the end of the line. No event in the cluster shortens its backoff.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from actors.scheduler.cluster.nominator import Nominator
from actors.scheduler.queue.heap import Heap
from actors.scheduler.queue.queued import (
    ACTIVE,
    BACKOFF,
    UNSCHEDULABLE,
    Attempt,
    May,
    PodQueue,
    QueuedPod,
)
from actors.scheduler.switches import SchedulerSwitches
from testbed.objects import Pod

PAUSE_MS, PAUSE_MS_MAX = 1000, 60_000


class FifoQueue(PodQueue):
    """A PodQueue that is one line.

    The switch `fifo_retry` sets the backoff of a pod that failed: a fixed time in milliseconds, or
    one second that doubles with each attempt, up to a minute (SCH-30).
    """

    def __init__(self, nominator: Nominator, switches: SchedulerSwitches) -> None:
        self._nominator = nominator
        self._retry = switches.fifo_retry
        self._line: dict[str, QueuedPod] = {}
        self._backoff: Heap[QueuedPod] = Heap(self._by_backoff)
        self._arrived = 0
        self._gated: dict[str, QueuedPod] = {}
        self.cycle = 0

    @property
    def is_ready(self) -> bool:
        return bool(self._line)

    @property
    def backoff_due_ms(self) -> int | None:
        first = self._backoff.first()
        return None if first is None else self._backoff_until(first)

    @property
    def stay_due_ms(self) -> int | None:
        return None

    @property
    def news(self) -> object:
        return False

    @property
    def waiting(self) -> Mapping[str, Sequence[QueuedPod]]:
        return {
            ACTIVE: tuple(self._line.values()),
            BACKOFF: tuple(self._backoff.values()),
            UNSCHEDULABLE: tuple(self._gated.values()),
        }

    def add(self, pod: Pod, now_ms: int) -> None:
        self._drop(pod.key)
        self._arrived += 1
        self._enter(QueuedPod(pod, now_ms, now_ms, self._arrived))
        if pod.key in self._line:
            self._nominator.nominate(pod)

    def update(self, old: Pod, new: Pod, now_ms: int) -> None:
        key = new.key
        queued = self._line.get(key) or self._backoff.get(key) or self._gated.get(key)
        if queued is None:
            self.add(new, now_ms)
            return
        queued.pod = new
        self._nominator.update(old, new)
        if key in self._gated:
            del self._gated[key]
            self._enter(queued)

    def delete(self, pod: Pod) -> None:
        self._nominator.drop(pod)
        self._drop(pod.key)

    def pop(self, now_ms: int) -> QueuedPod | None:
        if not self._line:
            return None
        queued = self._line.pop(next(iter(self._line)))
        self.cycle += 1
        queued.begin_attempt()
        return queued

    def has(self, key: str) -> bool:
        return key in self._line or key in self._backoff or key in self._gated

    def requeue(self, attempt: Attempt) -> str:
        self._backoff.put(attempt.pod.key, attempt.queued)
        return BACKOFF

    def move(self, event: str, now_ms: int, may: May | None = None) -> bool:
        """Do nothing: no pod of this queue waits for an event."""
        return False

    def flush_backoff(self, now_ms: int) -> None:
        while (due_ms := self.backoff_due_ms) is not None and due_ms <= now_ms:
            self._enter(self._backoff.take())

    def flush_unschedulable(self, now_ms: int) -> None:
        """Do nothing: no pod of this queue waits for an event."""

    def _backoff_until(self, queued: QueuedPod) -> int:
        if isinstance(self._retry, int):
            return queued.since_ms + self._retry
        doubled = PAUSE_MS << min(max(queued.attempts, 1) - 1, PAUSE_MS_MAX)
        return queued.since_ms + min(doubled, PAUSE_MS_MAX)

    def _by_backoff(self, queued: QueuedPod) -> tuple[int, int]:
        """Pods whose backoff ends at the same time stand in the order of their first arrival."""
        return (self._backoff_until(queued), queued.number)

    def _enter(self, queued: QueuedPod) -> None:
        queued.is_gated = bool(queued.pod.spec.scheduling_gates)
        (self._gated if queued.is_gated else self._line)[queued.pod.key] = queued

    def _drop(self, key: str) -> None:
        self._line.pop(key, None)
        self._backoff.drop(key)
        self._gated.pop(key, None)
