"""Nominations are kept: each pod has one at most, and it is the latest (INV-14)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

import attrs

from actors.scheduler.invariants.cycles import Cycle, Cycles, books_of, node_key, records_of
from actors.scheduler.memory.books import Books
from actors.scheduler.reference.feasibility import nomination_of
from actors.scheduler.reference.victims import lower_nominated
from testbed import Evidence, Invariant
from testbed.invariant import RECORD
from testbed.objects import Pod
from testbed.turns.found import UNEQUAL, Found, Wrong, told
from testbed.turns.trace import Record, Step


@attrs.frozen
class _Displaced:
    """A nomination that must be cleared because a more important pod was nominated there."""

    who: str
    life: int
    uid: str
    key: str
    node: str
    record: int
    """How many records there were when that was decided."""


class NominationsAreKept(Invariant):
    """In each cycle, the scheduler holds each pod nominated to one node at most: to the one that it
    decided on last, or the one that the informer shows. It holds no pod nominated that is bound or
    gone. It holds every pod that the informer shows nominated, unless it has cleared that itself.

    At the end of the Run, no less important pod is nominated where room was made for another.
    """

    name = "nominations_are_kept"
    breach_reason, breach_fields = UNEQUAL, ("status.nominated_node_name",)
    reads = frozenset()
    looks_at: ClassVar[frozenset[str]] = frozenset({RECORD})

    def __init__(self, cycles: Cycles | None = None) -> None:
        self._cycles = Cycles() if cycles is None else cycles
        self._decided: dict[tuple[str, int, str], str | None] = {}
        """The nomination that a life decided on last, by scheduler, life and pod key; empty:
        none."""
        self._displaced: list[_Displaced] = []

    def look(self, step: Step | None, evidence: Evidence) -> Wrong:
        for cycle in self._cycles.of(evidence):
            if breach := self._breach_in(cycle):
                return told(breach, before=f"{cycle.who}: ", actors=cycle.who)
            key = (cycle.who, cycle.life, cycle.pod.key)
            if cycle.decision.node or cycle.decision.nominate is not None:
                self._decided[key] = cycle.decision.nominate or ""
            self._displaced += _displaced(cycle, len(evidence.records))
        for record in records_of(evidence):
            if record.name == "forgot":
                role = evidence.table.roles[record.path.partition("/")[0]]
                self._decided[(role.name, role.lives, record.facts["pod"])] = ""
        return None

    def _breach_in(self, cycle: Cycle) -> Found | None:
        books = cycle.books
        pods = books.informers.pods.known
        nodes: dict[str, str] = {}
        # The pod of this cycle itself is left out of two checks: its own decision is only recorded
        # afterwards, and the nominator learns of it later still, when the pod is requeued.
        for node, infos in books.beliefs.nominator.nominated.items():
            for info in infos:
                key = info.pod.key
                if key in nodes:
                    text = f"{key} is nominated to {nodes[key]} and to {node}"
                    return Found.of(text, key, node_key(nodes[key]), node_key(node))
                nodes[key] = node
                known = pods.get(key)
                if known is None or known.is_bound or known.meta.uid != info.pod.meta.uid:
                    text = f"{key} is nominated to {node}, and is bound or gone"
                    return Found.of(text, key, node_key(node))
                if key != cycle.pod.key and node not in self._allowed(cycle, known):
                    text = f"{key} is nominated to {node}, and nobody has said so"
                    return Found.of(text, key, node_key(node))
        for known in _ours(books):
            if known.key not in nodes and known.key != cycle.pod.key:
                node = nomination_of(known, cycle.switches)
                if node and not self._was_taken_back(cycle, known):
                    text = f"{known.key} is nominated to {node}, and that was forgotten"
                    return Found.of(text, known, node_key(node))
        return None

    def _allowed(self, cycle: Cycle, known: Pod) -> set[str | None]:
        decided = self._decided.get((cycle.who, cycle.life, known.key))
        return {decided, nomination_of(known, cycle.switches)}

    def _was_taken_back(self, cycle: Cycle, known: Pod) -> bool:
        """Whether the scheduler need not hold the nomination that the informer shows."""
        current = cycle.record.current
        is_away = known.spec.scheduling_gates or cycle.books.beliefs.cache.is_assumed(known)
        is_current = current is not None and current.pod.key == known.key
        decided = self._decided.get((cycle.who, cycle.life, known.key))
        return bool(is_away) or is_current or decided == ""

    def end(self, evidence: Evidence) -> Wrong:
        """Find a pod that kept a nomination that was to be cleared."""
        for displaced in self._displaced:
            role = evidence.table.roles[displaced.who]
            books = books_of(role.life)
            later = evidence.records[displaced.record :]
            if books is None or role.lives != displaced.life or _failed(later, displaced):
                continue
            entry = evidence.store.peek(displaced.key)
            pod = None if entry is None else entry.value
            if not isinstance(pod, Pod) or pod.is_bound or pod.meta.uid != displaced.uid:
                continue
            if nomination_of(pod, books.switches) == displaced.node:
                node, who = displaced.node, displaced.who
                text = f"{displaced.key} is still nominated to {node}, as others are"
                return Found.of(text, displaced, node_key(node), actors=who)
        return None


def _displaced(cycle: Cycle, records: int) -> Iterator[_Displaced]:
    """The less important pods on the chosen node that the informer shows nominated there."""
    if cycle.chosen is None:
        return
    pods = cycle.books.informers.pods.known
    place = cycle.cluster.places[cycle.chosen.node]
    for guest in lower_nominated(cycle.guest, place, cycle.victims, cycle.cluster, cycle.switches):
        known = pods.get(guest.pod.key)
        if known is not None and nomination_of(known, cycle.switches) == place.name:
            uid, key = guest.pod.meta.uid, guest.pod.key
            yield _Displaced(cycle.who, cycle.life, uid, key, place.name, records)


def _failed(later: list[Record], displaced: _Displaced) -> bool:
    """Whether clearing it failed, or the pod was nominated again later."""
    for record in later:
        facts = record.facts
        if record.name in ("nomination kept", "preemption broken off"):
            return True
        if record.name == "cycle" and facts["pod"] == displaced.key and facts.get("nominated"):
            return True
    return False


def _ours(books: Books) -> Iterator[Pod]:
    """The pods that this scheduler is to place, as the informer shows them."""
    for pod in books.informers.pods.known.values():
        if pod.spec.scheduler_name == books.pods_of and not pod.is_bound:
            yield pod
