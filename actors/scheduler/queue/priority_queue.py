"""Scheduling queue: the pods to try, those to leave alone, and those that wait for news (SCH-7).

It is the priority queue of Kubernetes 1.26. A *move* offers the pods that wait for news to be tried
again. In which order it takes them does not matter: each is judged by itself, and where it goes to
it stands by its own priority, time and name. So nothing is picked here (GEN-6).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from actors.framework.cluster_events import (
    GATES,
    NODE_DELETED,
    POD_ADDED,
    POD_UPDATED,
    is_awaited,
    is_changed,
)
from actors.scheduler.cluster.nominator import Nominator
from actors.scheduler.queue.heap import Heap
from actors.scheduler.queue.queued import ACTIVE, BACKOFF, UNSCHEDULABLE, May, PodQueue, QueuedPod
from actors.scheduler.queue.unschedulable import Unschedulable
from actors.scheduler.switches import SchedulerSwitches
from testbed.objects import Pod

BACKOFF_MS, BACKOFF_MS_MAX = 1000, 10_000
STAY_MS_MAX = 5 * 60_000
"""How long a pod waits for news until it is tried without any (SCH-13)."""


def backoff_until(queued: QueuedPod) -> int:
    """Until when it is left alone: twice as long each time it was tried, ten seconds at most
    (SCH-11)."""
    doubled = min(max(queued.attempts, 1) - 1, BACKOFF_MS_MAX)
    return queued.since_ms + min(BACKOFF_MS << doubled, BACKOFF_MS_MAX)


def _by_backoff(queued: QueuedPod) -> tuple[int, str, str]:
    meta = queued.pod.meta
    return (backoff_until(queued), meta.namespace, meta.name)


class SchedulingQueue(PodQueue):
    """A PodQueue. `wakes` tells which events each filter waits for."""

    def __init__(
        self,
        nominator: Nominator,
        wakes: Mapping[str, frozenset[str]],
        switches: SchedulerSwitches,
    ) -> None:
        self._nominator = nominator
        self._wakes = wakes
        self._moves_everything = switches.requeue_scope == "everything"
        self._clearing_moves = switches.requeue_on_nnn_clear
        self._active: Heap[QueuedPod] = Heap(QueuedPod.rank)
        self._backoff: Heap[QueuedPod] = Heap(_by_backoff)
        self._waiting = Unschedulable()
        self.cycle = 0
        self._moved_in = -1
        """The cycle in which pods were last moved, or would have been (SCH-15)."""

    @property
    def is_ready(self) -> bool:
        return bool(self._active)

    @property
    def backoff_due_ms(self) -> int | None:
        first = self._backoff.first()
        return None if first is None else backoff_until(first)

    @property
    def stay_due_ms(self) -> int | None:
        since_ms = self._waiting.since_ms
        return None if since_ms is None else since_ms + STAY_MS_MAX + 1

    @property
    def has_news(self) -> bool:
        return self._moved_in >= self.cycle

    @property
    def waiting(self) -> Mapping[str, Sequence[QueuedPod]]:
        return {
            ACTIVE: tuple(self._active.values()),
            BACKOFF: tuple(self._backoff.values()),
            UNSCHEDULABLE: tuple(self._waiting.values()),
        }

    def add(self, pod: Pod, now_ms: int) -> None:
        self._drop(pod.key)
        if self._activate(QueuedPod(pod, now_ms, now_ms)):
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
        queued = self._waiting.get(key)
        if queued is None:
            self.add(new, now_ms)
            return
        queued.pod = new
        self._nominator.update(old, new)
        said = self._nominator.said
        if is_changed(old, new) or (self._clearing_moves and said(old) and not said(new)):
            self._offer(queued, now_ms)

    def delete(self, pod: Pod) -> None:
        self._nominator.drop(pod)
        self._drop(pod.key)

    def pop(self, now_ms: int) -> QueuedPod | None:
        if not self._active:
            return None
        self.cycle += 1
        queued = self._active.take()
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
        if key in self._active or key in self._backoff or key in self._waiting:
            return ""
        queued.pod, queued.since_ms, queued.refused_by = pod, now_ms, refused_by
        self._nominator.nominate(pod)
        if self._moved_in >= cycle:
            self._backoff.put(key, queued)
            return BACKOFF
        self._waiting.put(queued)
        return UNSCHEDULABLE

    def move(self, event: str, now_ms: int, may: May | None = None) -> None:
        """The news of a pod that has come or changed is for those alone that must be near others;
        that a node is gone is no news. `requeue_scope=everything` knows only the first of these,
        and asks `may` about nothing else (SCH-23, SCH-24, SCH-28)."""
        if self._moves_everything:
            is_for_near = event == POD_ADDED
            may = may if is_for_near else None
        elif event == NODE_DELETED:
            return
        else:
            is_for_near = event in (POD_ADDED, POD_UPDATED)
        for (refused_by, is_near), pods in self._waiting.groups():
            if is_for_near and not is_near:
                continue
            if self._moves_everything or is_awaited(event, refused_by, self._wakes):
                self._offer_all((p for p in pods if may is None or may(p.pod)), now_ms)
        self._moved_in = self.cycle

    def flush_backoff(self, now_ms: int) -> None:
        while (due_ms := self.backoff_due_ms) is not None and due_ms <= now_ms:
            self._activate(self._backoff.take())

    def flush_unschedulable(self, now_ms: int) -> None:
        late = self._waiting.before(now_ms - STAY_MS_MAX)
        if late:
            self._offer_all(late, now_ms)
            self._moved_in = self.cycle

    def _offer_all(self, pods: Iterable[QueuedPod], now_ms: int) -> None:
        for queued in pods:
            self._offer(queued, now_ms)

    def _offer(self, queued: QueuedPod, now_ms: int) -> None:
        """Let one that waits for news be tried, now or when it has been left alone for long
        enough; unless it has gates."""
        key = queued.pod.key
        if not queued.is_gated and backoff_until(queued) > now_ms:
            self._waiting.drop(key)
            self._backoff.put(key, queued)
        elif self._activate(queued):
            self._waiting.drop(key)

    def _activate(self, queued: QueuedPod) -> bool:
        """Let it be tried; one with gates waits for news instead."""
        queued.is_gated = bool(queued.pod.spec.scheduling_gates)
        if queued.is_gated:
            queued.refused_by |= {GATES}
            self._waiting.put(queued)
        else:
            self._active.put(queued.pod.key, queued)
        return not queued.is_gated

    def _drop(self, key: str) -> None:
        self._active.drop(key)
        self._backoff.drop(key)
        self._waiting.drop(key)
