"""Evicted pods: one a loop, never a critical one, and none before one that has to go first
(INV-28)."""

from __future__ import annotations

from typing import ClassVar

from actors.kubelet.invariants.measured_nodes import LOOKED, MeasuredNode, Records
from actors.kubelet.meter import Used
from actors.kubelet.switches import SEED_PCT
from actors.shared.critical import is_critical
from testbed import Evidence, Invariant
from testbed.invariant import RECORD, RECORDS
from testbed.objects import requests_of
from testbed.turns.found import FORBIDDEN, TOO_MANY, Found, Wrong
from testbed.turns.trace import Step


class EvictsTheRightPod(Invariant):
    """A kubelet evicts one pod at most each time it looks. It is not critical; and by the ranking
    of the switches, no other pod that it might have evicted comes before it. A pod without
    statistics may always go."""

    name = "evicts_the_right_pod"
    breach_reason = FORBIDDEN
    reads = frozenset({RECORDS})
    looks_at: ClassVar[frozenset[str]] = frozenset({RECORD})

    def __init__(self) -> None:
        self._records = Records()
        self._evicted: dict[tuple[str, int], str] = {}
        """By life of a kubelet, the pod that it has evicted since its last look."""

    def look(self, step: Step | None, evidence: Evidence) -> Wrong:
        for found in self._records.new(evidence):
            if found.record.name == LOOKED:
                self._evicted.pop(found.life, None)
                continue
            wrong = self._wrong(found)
            if wrong:
                return wrong
        return None

    def _wrong(self, found: MeasuredNode) -> Found | None:
        facts, name = found.record.facts, found.kubelet.name
        before = self._evicted.setdefault(found.life, facts["pod"])
        if before != facts["pod"]:
            text = f"{name} evicted {before} and {facts['pod']} after one look"
            return Found.of(text, before, facts["pod"], actors=name, reason=TOO_MANY)
        evicted = found.used.get(facts["uid"])
        if evicted is None:
            return None
        if is_critical(evicted.pod):
            text = f"{name} evicted {facts['pod']}, which is critical"
            return Found.of(text, facts["pod"], fields="spec.priority", actors=name)
        for uid in sorted(found.evictor.active):
            other = found.used.get(uid)
            if other is None or uid == facts["uid"] or is_critical(other.pod):
                continue
            if _is_before(other, evicted, facts["resource"], found.switches.evict_rank):
                text = f"{name} evicted {facts['pod']} before {other.pod.key}"
                return Found.of(text, facts["pod"], other.pod, actors=name)
        return None


def _is_before(one: Used, other: Used, resource: str, how: str) -> bool:
    """Whether the first has to go strictly before the second, told plainly."""
    if other.amounts is None or one.amounts is None:
        return False
    used, used_there = one.amounts.get(resource, 0), other.amounts.get(resource, 0)
    asked = requests_of(one.pod).get(resource, 0)
    asked_there = requests_of(other.pod).get(resource, 0)
    priority, priority_there = one.pod.priority, other.pod.priority
    if resource != "pids" and how != SEED_PCT and (used > asked) != (used_there > asked_there):
        return used > asked
    if priority != priority_there:
        return priority < priority_there
    if resource == "pids":
        return used > used_there
    if how == SEED_PCT:
        if not asked or not asked_there:
            return not asked and bool(asked_there)
        return used * asked_there > used_there * asked
    return used - asked > used_there - asked_there
