"""FIFO queue: pods in one line, as they come, however important they are (SCH-29).

So it was before there were priorities. A pod that has failed is left alone, then stands at the end
again; what happens in the cluster is no news to it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from actors.scheduler.cluster.nominator import Nominator
from actors.scheduler.queue.heap import Heap
from actors.scheduler.queue.queued import ACTIVE, BACKOFF, UNSCHEDULABLE, May, PodQueue, QueuedPod
from actors.scheduler.switches import SchedulerSwitches
from testbed.objects import Pod

PAUSE_MS, PAUSE_MS_MAX = 1000, 60_000


class FifoQueue(PodQueue):
    """A PodQueue. The switch `fifo_retry` says how long one that failed is left alone: for so many
    milliseconds, or for a second, and twice as long each time, up to a minute (SCH-30)."""

    def __init__(self, nominator: Nominator, switches: SchedulerSwitches) -> None:
        self._nominator = nominator
        self._retry = switches.fifo_retry
        self._line: dict[str, QueuedPod] = {}
        self._left_alone: Heap[QueuedPod] = Heap(self._by_pause)
        self._came = 0
        self._gated: dict[str, QueuedPod] = {}
        self.cycle = 0

    @property
    def is_ready(self) -> bool:
        return bool(self._line)

    @property
    def backoff_due_ms(self) -> int | None:
        first = self._left_alone.first()
        return None if first is None else self._until(first)

    @property
    def stay_due_ms(self) -> int | None:
        return None

    @property
    def has_news(self) -> bool:
        return False

    @property
    def waiting(self) -> Mapping[str, Sequence[QueuedPod]]:
        return {
            ACTIVE: tuple(self._line.values()),
            BACKOFF: tuple(self._left_alone.values()),
            UNSCHEDULABLE: tuple(self._gated.values()),
        }

    def add(self, pod: Pod, now_ms: int) -> None:
        self._drop(pod.key)
        self._came += 1
        self._enter(QueuedPod(pod, now_ms, now_ms, self._came))
        if pod.key in self._line:
            self._nominator.nominate(pod)

    def update(self, old: Pod, new: Pod, now_ms: int) -> None:
        key = new.key
        queued = self._line.get(key) or self._left_alone.get(key) or self._gated.get(key)
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
        queued.take()
        return queued

    def failed(
        self,
        queued: QueuedPod,
        pod: Pod,
        cycle: int,
        now_ms: int,
        refused_by: frozenset[str] = frozenset(),
    ) -> str:
        key = pod.key
        if key in self._line or key in self._left_alone or key in self._gated:
            return ""
        queued.pod, queued.since_ms, queued.refused_by = pod, now_ms, refused_by
        self._nominator.nominate(pod)
        self._left_alone.put(key, queued)
        return BACKOFF

    def move(self, event: str, now_ms: int, may: May | None = None) -> None:
        """It is news to nobody."""

    def flush_backoff(self, now_ms: int) -> None:
        while (due_ms := self.backoff_due_ms) is not None and due_ms <= now_ms:
            self._enter(self._left_alone.take())

    def flush_unschedulable(self, now_ms: int) -> None:
        """Nobody waits for news."""

    def _until(self, queued: QueuedPod) -> int:
        if isinstance(self._retry, int):
            return queued.since_ms + self._retry
        doubled = PAUSE_MS << min(max(queued.attempts, 1) - 1, PAUSE_MS_MAX)
        return queued.since_ms + min(doubled, PAUSE_MS_MAX)

    def _by_pause(self, queued: QueuedPod) -> tuple[int, int]:
        """Those that are due at one time stand as they came at first."""
        return (self._until(queued), queued.number)

    def _enter(self, queued: QueuedPod) -> None:
        queued.is_gated = bool(queued.pod.spec.scheduling_gates)
        (self._gated if queued.is_gated else self._line)[queued.pod.key] = queued

    def _drop(self, key: str) -> None:
        self._line.pop(key, None)
        self._left_alone.drop(key)
        self._gated.pop(key, None)
