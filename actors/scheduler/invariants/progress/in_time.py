"""A pod that room was made for is placed in time (INV-23)."""

from __future__ import annotations

from typing import ClassVar

from actors.scheduler.invariants.cycles import Cycles, node_key, schedulers
from actors.scheduler.invariants.progress.promises import Promise, Promises
from testbed import Evidence, Invariant
from testbed.invariant import DELIVERY, RECORD
from testbed.turns.found import DEADLINE, Found, Wrong
from testbed.turns.trace import Step

WITHIN_MS = 11_000
"""The longest backoff, and the second until the queue is looked through."""


class WhoHasRoomIsPlacedInTime(Invariant):
    """Once its scheduler has been told that the last victim is gone, a pod that room was made for
    is given a node within eleven seconds: the longest backoff is ten, and the queue is looked
    through every second. At the end of the Run it has one.

    It is judged by what the scheduler knew, and when: so the grace of the victims, what their
    kubelet takes to finish, and how late a watch is, are over by then. Time that the scheduler
    spends in its cycles is not counted. While something of the scheduler is held back, time starts
    anew. It is looked at in the turns of the scheduler itself, and must be late at two times: so a
    pod is in time that is placed as soon as a stall is over.

    It is not claimed of a pod to which something has come between (`RoomIsMadeAgainOnlyIfLost`
    lists what), nor across a restart. A node that is down keeps its victims, and so claims nothing.
    """

    name = "who_has_room_is_placed_in_time"
    breach_reason, breach_fields = DEADLINE, ("spec.node_name",)
    reads = frozenset()
    looks_at: ClassVar[frozenset[str]] = frozenset({DELIVERY, RECORD})

    def __init__(self, promises: Promises | None = None, *, within_ms: int = WITHIN_MS) -> None:
        self._promises = Promises(Cycles()) if promises is None else promises
        self._within_ms = within_ms
        self._late_ms: dict[Promise, int] = {}
        """When it was first seen that a pod is late."""

    def look(self, step: Step | None, evidence: Evidence) -> Wrong:
        promises = self._promises
        promises.follow(evidence)
        for who in promises.moved:
            if breach := self._breach_in(who, evidence):
                return breach
        return None

    def _breach_in(self, who: str, evidence: Evidence) -> Wrong:
        """Look at the pod that has waited longest, of those that a scheduler has room for."""
        loop, now_ms = self._promises.loops[who], evidence.now_ms
        while loop.free and self._is_over(loop.free[0]):
            self._late_ms.pop(loop.free.popleft(), None)
        if not loop.free:
            return None
        first = loop.free[0]
        waited_ms = now_ms - (first.free_ms or 0) - (loop.spent_ms - first.spent_ms)
        if waited_ms <= self._within_ms:
            return None
        if _is_held_up(who, evidence):
            loop.free.popleft()
            self._late_ms.pop(first, None)
            first.free_ms, first.spent_ms = now_ms, loop.spent_ms
            loop.free.append(first)
            return None
        late_ms = self._late_ms.setdefault(first, now_ms)
        return None if now_ms == late_ms else _said(first, f"it has no node {waited_ms:,} ms later")

    def _is_over(self, promise: Promise) -> bool:
        """Whether nothing is claimed of it any more."""
        is_excused = bool(promise.between) or not promise.life.is_alive
        return is_excused or self._promises.is_moot(promise)

    def end(self, evidence: Evidence) -> Wrong:
        for who, books, _ in schedulers(evidence):
            waits = books.beliefs.queue.places["unschedulable"]
            for promise in [*self._promises.open_promises()]:
                if promise.who == who and promise.life.is_alive and promise.pod in waits:
                    self._promises.look_again(promise, evidence.now_ms)
                    if not promise.waits_for:
                        return _said(promise, "it still waits when nothing moves any more")
        return None


def _said(promise: Promise, late: str) -> Found:
    room = f"room was made for {promise.pod} on {promise.node}, and its victims are gone"
    text = f"{promise.who}: {room}; {late}"
    return Found.of(text, promise.pod, node_key(promise.node), actors=promise.who)


def _is_held_up(who: str, evidence: Evidence) -> bool:
    """Whether anything that the scheduler could do is held back, or late."""
    pending = evidence.table.pending
    is_late = len(pending) > 0 and pending.next_due_ms < evidence.now_ms
    return is_late or any(option.actor == who for option in pending.held)
