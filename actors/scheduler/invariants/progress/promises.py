"""Promise: room that was made for a pod on a node, and what has come between since."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from typing import Any

import attrs

from actors.framework.nodeinfo import NodeInfo
from actors.framework.podinfo import PodInfo
from actors.scheduler.invariants.cycles import Cycle, Cycles, books_of, records_of
from actors.scheduler.reference.feasibility import nomination_of
from testbed import Evidence
from testbed.objects import Node

ROOM = ("NodeResourcesFit", "NodePorts")
"""The filters that refuse a node for what its own pods take. Another one refuses it for what the
node is, or for pods elsewhere."""


@attrs.define(eq=False)
class Promise:
    """The room that one decision has made for a pod; kept until the pod has a node."""

    life: Any
    """The life of the scheduler that decided."""
    pod: str
    """The key of the pod."""
    uid: str
    priority: int
    node: str
    waits_for: dict[str, str]
    """The victims that its scheduler still knows to be there, by key, each with its uid."""
    there: frozenset[str]
    """The uids of the pods that were on the node, and of those nominated there."""
    place: Node | None
    """The node as it was."""
    was_taken_back: bool = False
    """Whether the scheduler itself has cleared the nomination since."""
    given: dict[str, str] = attrs.field(factory=dict)
    """The less important pods that the same scheduler has put on that node since: uid to key."""
    free_ms: int | None = None
    """Since when the scheduler has known that all victims are gone; None: they are not."""
    spent_ms: int = 0
    """How long the cycles of its scheduler had taken in all when `free_ms` was set."""
    between: str = ""
    """What has come between, for which the scheduler is not to blame; empty: nothing."""
    decisions: int = 1
    """How often room was made for the pod, since the last time that something came between."""

    @property
    def who(self) -> str:
        """The scheduler's name."""
        return str(self.life.role.name)


@attrs.define
class _Loop:
    """What one scheduler is at."""

    at: tuple[object, int] = (None, 0)
    """The entry of the current cycle, and its attempt."""
    seen_ms: int = 0
    """When it last moved."""
    spent_ms: int = 0
    """How long its cycles have taken in all."""
    free: deque[Promise] = attrs.field(factory=deque)
    """The Promises with nothing left to wait for, in the order in which that became so."""


class Promises:
    """Follows every Promise from the decision to the bind, by what the scheduler itself records and
    is told. So two turns of which neither is its own may stand in any order.

    If it is `strict`, a less important pod of another scheduler that comes to the node is no
    excuse: that no other scheduler heeds a nomination is then the fault that is looked for
    (SCH-109).
    """

    def __init__(self, cycles: Cycles, *, strict: bool = False) -> None:
        self._cycles = cycles
        self._strict = strict
        self._step = 0
        self._open: dict[str, Promise] = {}
        """By the key of the pod."""
        self._on: dict[str, dict[str, Promise]] = {}
        """By node, then by the key of the pod."""
        self._waiting: dict[str, dict[str, Promise]] = {}
        """By the key of a victim, then by that of the pod."""
        self.loops: dict[str, _Loop] = {}
        """By the name of the scheduler."""
        self.broken: list[tuple[Promise, Cycle]] = []
        """Those of this turn whose pod has made room again, though nothing had come between."""
        self.moved: list[str] = []
        """The schedulers whose turn it was."""

    def follow(self, evidence: Evidence) -> None:
        """Take in the turn that has just ended; once, however many claims ask."""
        if evidence.table.step == self._step:
            return
        self._step = evidence.table.step
        self.broken, self.moved = [], []
        for stream, delivery in evidence.wire.streams.delivered:
            if stream.life.role.name in self.loops and stream.plural == "pods":
                self._told(stream.life, delivery.key, evidence.now_ms)
        for record in records_of(evidence):
            life = evidence.table.roles[record.path.partition("/")[0]].life
            if books_of(life) is not None:
                self._move(life, evidence.now_ms)
        for cycle in self._cycles.of(evidence):
            self._decided(cycle, evidence.table.roles[cycle.who].life, evidence.now_ms)

    def open_promises(self) -> Iterator[Promise]:
        """All that are neither kept nor excused."""
        yield from self._open.values()

    def look_again(self, promise: Promise, now_ms: int) -> None:
        """See which victims its scheduler knows to be gone by now."""
        for key in [*promise.waits_for]:
            self._look(promise, key, now_ms)

    def is_moot(self, promise: Promise) -> bool:
        """Whether its pod needs no room any more, as far as its scheduler knows. Then it is
        followed no longer."""
        books = books_of(promise.life)
        known = None if books is None else books.informers.pod(promise.pod)
        is_here = known is not None and known.meta.uid == promise.uid and not known.is_bound
        if not is_here:
            self._excuse(promise.pod, "the pod is gone, or has a node")
        return not is_here

    # -- what a scheduler does, and is told -----------------------------------------------------

    def _told(self, life: Any, key: str, now_ms: int) -> None:
        """A change of that pod was delivered to a scheduler."""
        self._move(life, now_ms)
        for promise in [*self._waiting.get(key, {}).values()]:
            if promise.life is life:
                self._look(promise, key, now_ms)
        promise_of_it = self._open.get(key)
        if promise_of_it is not None and promise_of_it.life is life:
            self.is_moot(promise_of_it)

    def _move(self, life: Any, now_ms: int) -> None:
        """A turn of that scheduler: count the time that its current cycle has taken."""
        who = life.role.name
        loop = self.loops.setdefault(who, _Loop())
        if who not in self.moved:
            self.moved.append(who)
        cycle = life.shown.get("cycle")
        queued = None if cycle is None else cycle.current
        at = (queued, 0 if queued is None else queued.attempts)
        if queued is not None and loop.at == at:
            loop.spent_ms += now_ms - loop.seen_ms
        loop.at, loop.seen_ms = at, now_ms

    def _decided(self, cycle: Cycle, life: Any, now_ms: int) -> None:
        pod, decision, chosen = cycle.pod, cycle.decision, cycle.chosen
        promise = self._open.get(pod.key)
        if promise is not None and promise.uid != pod.meta.uid:
            self._drop(promise)
            promise = None
        if decision.node:
            if promise is not None:
                self._drop(promise)
            for other in self._on.get(decision.node, {}).values():
                if other.life is life and other.priority > pod.priority:
                    other.given[pod.meta.uid] = pod.key
            return
        if promise is not None and promise.life is life:
            self.look_again(promise, now_ms)
        # While its victims are there it may be tried, and cannot be placed.
        is_in_want = promise is not None and (chosen is not None or not promise.waits_for)
        if promise is not None and is_in_want:
            self._excuse(promise.pod, self._what_came_between(promise, cycle, life))
            promise = self._open.get(pod.key)
        if promise is not None and decision.nominate == "":
            promise.was_taken_back = True
        if chosen is not None:
            self._made_room(promise, cycle, life, now_ms)

    def _made_room(self, again: Promise | None, cycle: Cycle, life: Any, now_ms: int) -> None:
        """Note the room that was made; for a pod of which an open Promise was left, once more."""
        pod, chosen = cycle.pod, cycle.chosen
        assert chosen is not None
        waiting = cycle.books.beliefs.waiting
        goes = {v.key: v.meta.uid for v in chosen.victims if v.meta.uid not in waiting}
        info = _info(cycle, chosen.node)
        there = frozenset(_uids(cycle, chosen.node))
        place = None if info is None else info.node
        promise = Promise(
            life, pod.key, pod.meta.uid, pod.priority, chosen.node, goes, there, place
        )
        if again is not None:
            promise.decisions = again.decisions + 1
            promise.free_ms, promise.spent_ms = again.free_ms, again.spent_ms
            promise.given = again.given
            self._drop(again)
            self.broken.append((promise, cycle))
        self._open[pod.key] = self._on.setdefault(chosen.node, {})[pod.key] = promise
        for key in goes:
            self._waiting.setdefault(key, {})[pod.key] = promise
        if promise.free_ms is not None:
            self.loops[promise.who].free.appendleft(promise)
        self.look_again(promise, now_ms)

    # -- what becomes of a Promise --------------------------------------------------------------

    def _look(self, promise: Promise, victim: str, now_ms: int) -> None:
        """Whether its scheduler knows that this victim is gone."""
        books = books_of(promise.life)
        known = None if books is None else books.informers.pod(victim)
        if known is not None and known.meta.uid == promise.waits_for[victim]:
            return
        del promise.waits_for[victim]
        self._forget(self._waiting, victim, promise)
        if not promise.waits_for and promise.free_ms is None:
            loop = self.loops[promise.who]
            promise.free_ms, promise.spent_ms = now_ms, loop.spent_ms
            loop.free.append(promise)

    def _excuse(self, pod: str, why: str) -> None:
        """Follow the Promise of that pod no longer, if there is a reason."""
        promise = self._open.get(pod)
        if promise is not None and why:
            promise.between = why
            self._drop(promise)

    def _drop(self, promise: Promise) -> None:
        """Follow it no longer: it is kept, or excused, or made again."""
        promise.between = promise.between or "it is over"
        del self._open[promise.pod]
        self._forget(self._on, promise.node, promise)
        for victim in promise.waits_for:
            self._forget(self._waiting, victim, promise)

    def _forget(self, by: dict[str, dict[str, Promise]], key: str, promise: Promise) -> None:
        there = by[key]
        if there.get(promise.pod) is promise:
            del there[promise.pod]
        if not there:
            del by[key]

    def _what_came_between(self, promise: Promise, cycle: Cycle, life: Any) -> str:
        """Why the pod of this cycle cannot be blamed for having no node; empty: for no reason."""
        switches, node = cycle.switches, promise.node
        known = cycle.books.informers.pod(promise.pod)
        is_shown = known is None or nomination_of(known, switches) == node
        if not is_shown and not promise.was_taken_back:
            return "its nomination was not to be seen"
        if _has_not_seen(promise, cycle):
            return "its victims were not seen to go"
        info = _info(cycle, node)
        if info is None or info.node is None:
            return f"{node} is gone"
        if promise.place is None or _shape(promise.place) != _shape(info.node):
            return f"{node} has changed"
        refusal = cycle.decision.refusals.get(node)
        if refusal is None or refusal.filter not in ROOM or not cycle.is_by_rule:
            return "it is not kept out by the pods of its node"
        for other in _infos(cycle, node):
            if other.uid in promise.there or other.uid == promise.uid:
                continue
            is_own_fault = other.uid in promise.given and promise.life is life
            if other.priority >= promise.priority or not (is_own_fault or self._strict):
                return f"{other.key} has come there"
        return ""


def _shape(node: Node) -> object:
    """What of a node matters to pods."""
    return node.spec, node.meta.labels, node.status.allocatable


def _has_not_seen(promise: Promise, cycle: Cycle) -> bool:
    """Whether a victim is not shown to be terminating. If the pod was nominated there before, or is
    nominated first, its nomination is seen sooner than the end of the victims; and a crash may come
    before they are deleted (SCH-117)."""
    known = [cycle.books.informers.pod(key) for key in promise.waits_for]
    return any(pod is not None and not pod.meta.is_terminating for pod in known)


def _info(cycle: Cycle, node: str) -> NodeInfo | None:
    snapshot = cycle.record.snapshot
    return None if snapshot is None else snapshot.get(node)


def _infos(cycle: Cycle, node: str) -> Iterator[PodInfo]:
    """The pods that the scheduler counted on that node, and those that it held nominated there."""
    info = _info(cycle, node)
    yield from info.pods if info is not None else ()
    yield from cycle.books.beliefs.nominator.on(node)


def _uids(cycle: Cycle, node: str) -> Iterator[str]:
    return (info.uid for info in _infos(cycle, node))
