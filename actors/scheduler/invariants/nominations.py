"""Nominations are kept: each pod's own, at one node, as it was last said (INV-14)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

import attrs

from actors.scheduler.invariants.cycles import Cycle, Cycles, records_of
from actors.scheduler.memory.books import Books
from actors.scheduler.reference.feasibility import nomination_of
from actors.scheduler.reference.victims import lower_nominated
from testbed import Evidence, Invariant
from testbed.invariant import RECORD
from testbed.objects import Pod
from testbed.turns.trace import Record, Step


@attrs.frozen
class _Promise:
    """A nomination that a more important pod has taken the place of."""

    who: str
    life: int
    uid: str
    key: str
    node: str
    record: int
    """How many records there were by then."""


class NominationsAreKept(Invariant):
    """At each cycle a scheduler holds a pod nominated to one node at most: to the one that it has
    last decided on, or that the informer shows; and to none that is bound or gone. Whoever the
    informer shows nominated it holds, unless it has itself taken that back. And when nothing moves
    any more, no less important pod is nominated where room was made for another.
    """

    name = "nominations_are_kept"
    reads = frozenset()
    looks_at: ClassVar[frozenset[str]] = frozenset({RECORD})

    def __init__(self, cycles: Cycles | None = None) -> None:
        self._cycles = Cycles() if cycles is None else cycles
        self._said: dict[tuple[str, int, str], str | None] = {}
        """What a life has last decided of a pod's nomination, by the pod's key; None: nothing."""
        self._lower: list[_Promise] = []

    def look(self, step: Step | None, evidence: Evidence) -> str | None:
        for cycle in self._cycles.of(evidence):
            if said := self._said_of(cycle):
                return f"{cycle.who}: {said}"
            key = (cycle.who, cycle.life, cycle.pod.key)
            if cycle.decision.node or cycle.decision.nominate is not None:
                self._said[key] = cycle.decision.nominate or ""
            self._lower += _displaced(cycle, len(evidence.records))
        for record in records_of(evidence):
            if record.name == "forgot":
                role = evidence.table.roles[record.path.partition("/")[0]]
                self._said[(role.name, role.lives, record.facts["pod"])] = ""
        return None

    def _said_of(self, cycle: Cycle) -> str:
        books = cycle.books
        nodes: dict[str, str] = {}
        for node, infos in books.nominator.nominated.items():
            for info in infos:
                key = info.pod.key
                if key in nodes:
                    return f"{key} is nominated to {nodes[key]} and to {node}"
                nodes[key] = node
                known = books.pods.known.get(key)
                if known is None or known.is_bound or known.meta.uid != info.pod.meta.uid:
                    return f"{key} is nominated to {node}, and is bound or gone"
                if key != cycle.pod.key and node not in self._allowed(cycle, known):
                    return f"{key} is nominated to {node}, and nobody has said so"
        for known in _ours(books):
            if known.key not in nodes and known.key != cycle.pod.key:
                node = nomination_of(known, cycle.switches)
                if node and not self._was_taken_back(cycle, known):
                    return f"{known.key} is nominated to {node}, and that was forgotten"
        return ""

    def _allowed(self, cycle: Cycle, known: Pod) -> set[str | None]:
        said = self._said.get((cycle.who, cycle.life, known.key))
        return {said, nomination_of(known, cycle.switches)}

    def _was_taken_back(self, cycle: Cycle, known: Pod) -> bool:
        books = cycle.books
        is_away = known.spec.scheduling_gates or books.cache.is_assumed(known)
        is_in_hand = books.in_hand is not None and books.in_hand.pod.key == known.key
        said = self._said.get((cycle.who, cycle.life, known.key))
        return bool(is_away) or is_in_hand or said == ""

    def end(self, evidence: Evidence) -> str | None:
        """Whom it was not taken from, though it was to be."""
        for promise in self._lower:
            role = evidence.table.roles[promise.who]
            books = None if role.life is None else role.life.shown.get("scheduler")
            later = evidence.records[promise.record :]
            if books is None or role.lives != promise.life or _failed(later, promise):
                continue
            entry = evidence.store.peek(promise.key)
            pod = None if entry is None else entry.value
            if not isinstance(pod, Pod) or pod.is_bound or pod.meta.uid != promise.uid:
                continue
            if nomination_of(pod, books.switches) == promise.node:
                return f"{promise.key} is still nominated to {promise.node}, as others are"
        return None


def _displaced(cycle: Cycle, records: int) -> Iterator[_Promise]:
    """Those who are to lose their nomination to the pod, and are seen to have it."""
    if cycle.chosen is None:
        return
    place = cycle.cluster.places[cycle.chosen.node]
    for guest in lower_nominated(cycle.guest, place, cycle.victims, cycle.cluster, cycle.switches):
        known = cycle.books.pods.known.get(guest.pod.key)
        if known is not None and nomination_of(known, cycle.switches) == place.name:
            uid, key = guest.pod.meta.uid, guest.pod.key
            yield _Promise(cycle.who, cycle.life, uid, key, place.name, records)


def _failed(later: list[Record], promise: _Promise) -> bool:
    """Whether it was tried in vain, or the pod was nominated anew."""
    for record in later:
        facts = record.facts
        if record.name in ("nomination kept", "preemption broken off"):
            return True
        if record.name == "cycle" and facts["pod"] == promise.key and facts.get("nominated"):
            return True
    return False


def _ours(books: Books) -> Iterator[Pod]:
    """The pods it is to place, as the informer shows them."""
    for pod in books.pods.known.values():
        if pod.spec.scheduler_name == books.pods_of and not pod.is_bound:
            yield pod
