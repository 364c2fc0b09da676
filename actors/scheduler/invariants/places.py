"""No pod is lost, and none is in two places (INV-16)."""

from __future__ import annotations

from typing import ClassVar

from actors.scheduler.invariants.cycles import schedulers
from actors.scheduler.memory.books import Books
from testbed import Evidence, Invariant
from testbed.invariant import DELIVERY, RECORD
from testbed.objects import Pod
from testbed.turns.trace import Step


class NoPodIsLost(Invariant):
    """Each pod that is a scheduler's to place, and that it knows of, waits in one of its queues, is
    in hand, or is assumed on a node; and in one queue only. When nothing moves any more, each waits
    for news or for leave: none is left to be tried, or to be left alone for a while, or assumed.

    One that is in hand may wait already, as it has changed meanwhile (SCH-26); so may one that is
    assumed, if it bears the name of one that failed. One that is to go is nobody's to place. Where
    pods do not stay assumed for ever, one may be told of again only later.
    """

    name = "no_pod_is_lost"
    reads = frozenset()
    looks_at: ClassVar[frozenset[str]] = frozenset({DELIVERY, RECORD})

    def look(self, step: Step | None, evidence: Evidence) -> str | None:
        for who, books in schedulers(evidence):
            if said := said_of(books):
                return f"{who}: {said}"
        return None

    def end(self, evidence: Evidence) -> str | None:
        if said := self.look(None, evidence):
            return said
        for who, books in schedulers(evidence):
            for place in ("active", "backoff"):
                for key in books.queue.places[place]:
                    return f"{who}: {key} is still {place} when nothing moves any more"
            for info in (info for node in books.cache.nodes for info in node.pods):
                if books.cache.is_assumed(info.pod) and info.uid not in books.waiting:
                    return f"{who}: {info.key} is still assumed when nothing moves any more"
        return None


def said_of(books: Books) -> str:
    """Which pod is lost, or in two places."""
    waits = [key for keys in books.queue.places.values() for key in keys]
    for key in waits:
        if waits.count(key) > 1:
            return f"{key} waits in two queues"
        pod = books.pods.known.get(key)
        if pod is not None and pod.is_bound:
            return f"{key} waits, and has a node"
    in_hand = "" if books.in_hand is None else books.in_hand.pod.key
    for key, pod in books.pods.known.items():
        is_here = key in (*waits, in_hand) or books.cache.is_assumed(pod)
        if not is_here and _is_to_be_placed(pod, books) and not books.switches.assume_ttl_ms:
            return f"{key} is lost: it neither waits, nor is in hand, nor assumed on a node"
    return ""


def _is_to_be_placed(pod: Pod, books: Books) -> bool:
    is_ours = pod.spec.scheduler_name == books.pods_of
    return is_ours and not pod.is_bound and not pod.meta.is_terminating
