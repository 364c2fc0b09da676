"""No pod is lost, and none is in two places (INV-16)."""

from __future__ import annotations

from typing import ClassVar

from actors.scheduler.invariants.cycles import node_key, schedulers
from actors.scheduler.memory.books import Books
from actors.scheduler.memory.cycle_record import CycleRecord
from testbed import Evidence, Invariant
from testbed.invariant import DELIVERY, RECORD
from testbed.objects import Pod
from testbed.turns.found import MISSING, TOO_MANY, Found, Wrong, told
from testbed.turns.trace import Step


class NoPodIsLost(Invariant):
    """Each pod that a scheduler knows of and is to place is in one of its queues, is the pod of the
    current cycle, or is assumed on a node. It is in one queue only. At the end of the Run each is
    unschedulable or waits for Permit plugins: none is active, backing off, or assumed otherwise.

    The current pod may also be queued, if it has changed meanwhile (SCH-26). So may an assumed one,
    if it bears the name of a pod that failed. A terminating pod need not be anywhere. If assumed
    pods expire, one may be in no place until its informer shows it again: then nothing is claimed.
    """

    name = "no_pod_is_lost"
    reads = frozenset()
    looks_at: ClassVar[frozenset[str]] = frozenset({DELIVERY, RECORD})

    def look(self, step: Step | None, evidence: Evidence) -> Wrong:
        for who, books, cycle in schedulers(evidence):
            if breach := breach_in(books, cycle):
                return told(breach, before=f"{who}: ", actors=who)
        return None

    def end(self, evidence: Evidence) -> Wrong:
        if breach := self.look(None, evidence):
            return breach
        for who, books, _ in schedulers(evidence):
            cache, beliefs = books.beliefs.cache, books.beliefs
            for place in ("active", "backoff"):
                for key in beliefs.queue.places[place]:
                    text = f"{who}: {key} is still {place} when nothing moves any more"
                    return Found.of(text, key, actors=who)
            for info in (info for node in cache.nodes for info in node.pods):
                if cache.is_assumed(info.pod) and info.uid not in beliefs.waiting:
                    text = f"{who}: {info.key} is still assumed when nothing moves any more"
                    return Found.of(text, info.pod, node_key(info.pod.spec.node_name), actors=who)
        return None


def breach_in(books: Books, cycle: CycleRecord) -> Found | None:
    """Which pod is lost, or in two places; None if none is."""
    pods = books.informers.pods.known
    queued = [key for keys in books.beliefs.queue.places.values() for key in keys]
    for key in queued:
        if queued.count(key) > 1:
            return Found.of(f"{key} waits in two queues", key, reason=TOO_MANY)
        pod = pods.get(key)
        if pod is not None and pod.is_bound:
            return Found.of(f"{key} waits, and has a node", key, fields="spec.node_name")
    current = "" if cycle.current is None else cycle.current.pod.key
    for key, pod in pods.items():
        is_here = key in (*queued, current) or books.beliefs.cache.is_assumed(pod)
        if not is_here and _is_to_be_placed(pod, books) and not books.switches.assume_ttl_ms:
            text = f"{key} is lost: it is not queued, not in its cycle, and not assumed on a node"
            return Found.of(text, key, reason=MISSING)
    return None


def _is_to_be_placed(pod: Pod, books: Books) -> bool:
    is_ours = pod.spec.scheduler_name == books.pods_of
    return is_ours and not pod.is_bound and not pod.meta.is_terminating
