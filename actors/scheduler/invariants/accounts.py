"""What a scheduler counts on each node is what is there (INV-17)."""

from __future__ import annotations

from collections import Counter
from typing import ClassVar

from actors.scheduler.invariants.cycles import node_key, schedulers
from actors.scheduler.memory.books import Books
from testbed import Evidence, Invariant
from testbed.invariant import RECORD
from testbed.objects import requests_of
from testbed.turns.found import UNEQUAL, Found, Wrong, told
from testbed.turns.trace import Step


class AccountsAreBalanced(Invariant):
    """The resources counted on each node are the sum of the requests of the pods counted there. No
    pod is counted twice. The pods counted are those that the informer shows bound and not over, and
    the assumed ones that it does not show bound yet."""

    name = "accounts_are_balanced"
    breach_reason = UNEQUAL
    reads = frozenset()
    looks_at: ClassVar[frozenset[str]] = frozenset({RECORD})

    def look(self, step: Step | None, evidence: Evidence) -> Wrong:
        for who, books, _ in schedulers(evidence):
            if breach := breach_in(books):
                return told(breach, before=f"{who}: ", actors=who)
        return None

    def end(self, evidence: Evidence) -> Wrong:
        return self.look(None, evidence)


def breach_in(books: Books) -> Found | None:
    """What is counted wrong; None if nothing is."""
    cache = books.beliefs.cache
    counted: Counter[str] = Counter()
    homes: dict[str, str] = {}
    for node in cache.nodes:
        total: Counter[str] = Counter()
        for info in node.pods:
            total.update(requests_of(info.pod))
            counted[info.uid] += 1
            homes[info.uid] = node.name
            if info.pod.is_over:
                text = f"{info.pod.key} is over, and counted on {node.name}"
                return Found.of(text, info.pod, node_key(node.name))
        for name in {**total, **node.requested}:
            if total[name] != node.requested.get(name, 0):
                given = f"{node.requested.get(name, 0)} {name}, and its pods ask for {total[name]}"
                text = f"{node.name} is counted to have given {given}"
                return Found.of(text, node_key(node.name))
    for uid, times in counted.items():
        if times > 1:
            pods = (info.pod for node in cache.nodes for info in node.pods if info.uid == uid)
            return Found.of(f"{uid} is counted {times} times", *pods)
    bound = {pod.meta.uid: pod for pod in books.informers.pods.known.values() if pod.is_bound}
    for uid, pod in bound.items():
        if homes.get(uid) != pod.spec.node_name:
            at, home = pod.spec.node_name, homes.get(uid, "")
            text = f"{pod.key} is on {at}, and counted on {home or 'none'}"
            return Found.of(text, pod, *map(node_key, filter(None, (at, home))))
    for node in cache.nodes:
        for info in node.pods:
            if info.uid not in bound and not cache.is_assumed(info.pod):
                text = f"{info.pod.key} is gone, and counted on {node.name}"
                return Found.of(text, info.pod, node_key(node.name))
    return None
