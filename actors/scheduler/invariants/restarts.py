"""A scheduler that starts anew forgets no pod that has a node (INV-41)."""

from __future__ import annotations

from typing import Any, ClassVar

import attrs

from actors.scheduler.invariants.cycles import Cycle, Cycles, node_key
from testbed import Cache, Evidence, Invariant
from testbed.invariant import RECORD
from testbed.objects import Pod
from testbed.turns.found import UNEQUAL, Found, Wrong, told
from testbed.turns.trace import Step


@attrs.define
class _Start:
    """How a life of a scheduler began."""

    life: int
    catches_up_at: int
    """The revision of the Store at its first cycle: what it counts is looked at again once it has
    read that far."""
    is_caught_up: bool = False


class RestartsForgetNoPod(Invariant):
    """A life of a scheduler begins its first cycle when each of its informers has listed. Then it
    counts, on each node, the pods that had it at one revision and were not over, beside those that
    it has assumed; and it knows the nodes of one revision. That revision may be old (a stale
    start): it is compared once more when the scheduler has read all that there was by its first
    cycle, and so all that there was by its restart.

    In between and after, `AccountsAreBalanced` claims that it counts what its informer shows, and
    `CachesShowOneRevision` that this is one revision of the history. So a life is compared as a
    whole only twice, and no other turn costs anything.
    """

    name = "restarts_forget_no_pod"
    breach_reason = UNEQUAL
    reads = frozenset()
    looks_at: ClassVar[frozenset[str]] = frozenset({RECORD})

    def __init__(self, cycles: Cycles | None = None) -> None:
        self._cycles = Cycles() if cycles is None else cycles
        self._starts: dict[str, _Start] = {}
        self.behind: dict[str, int] = {}
        """By how many changes of pods a scheduler was behind in the first cycle of a life, at most.
        """

    def look(self, step: Step | None, evidence: Evidence) -> Wrong:
        for cycle in self._cycles.of(evidence):
            start = self._starts.get(cycle.who)
            if start is None or start.life != cycle.life:
                start = _Start(cycle.life, evidence.store.revision)
                self._starts[cycle.who] = start
                if not_listed := _not_listed(cycle):
                    text = f"{cycle.who}: begins before it has listed {not_listed}"
                    return Found.of(text, actors=cycle.who)
                self._note_lag(cycle, evidence)
            elif start.is_caught_up or _upto(cycle) < start.catches_up_at:
                continue
            start.is_caught_up = _upto(cycle) >= start.catches_up_at
            if breach := _breach_in(cycle, evidence):
                return told(breach, before=f"{cycle.who}: ", actors=cycle.who)
        return None

    def _note_lag(self, cycle: Cycle, evidence: Evidence) -> None:
        log = evidence.store.log("pods")
        behind = log.end - log.place_after(_upto(cycle))
        self.behind[cycle.who] = max(behind, self.behind.get(cycle.who, 0))


def _upto(cycle: Cycle) -> int:
    """How far the informer of pods has read."""
    return int(str(cycle.books.informers.pods.upto) or 0)


def _not_listed(cycle: Cycle) -> str:
    """The first kind of which the informer has not listed yet; empty: all have."""
    own = cycle.books.informers
    for cache in (own.pods, own.nodes, own.budgets, own.namespaces, own.failed):
        if cache is not None and not str(cache.upto):
            return cache.kind.plural
    return ""


def _breach_in(cycle: Cycle, evidence: Evidence) -> Found | None:
    """What the scheduler counts wrong, by the history as far as it has read it."""
    cache, own = cycle.books.beliefs.cache, cycle.books.informers
    pods = _there(own.pods, evidence)
    nodes = _there(own.nodes, evidence)
    if pods is None or nodes is None:
        return None
    counted = {info.uid: info for node in cache.nodes for info in node.pods}
    for key, pod in pods.items():
        assert isinstance(pod, Pod)
        if pod.is_bound and pod.meta.uid not in counted:
            since = f"as of rv {own.pods.upto}"
            text = f"{key} is on {pod.spec.node_name} {since}, and is counted nowhere"
            return Found.of(text, key, node_key(pod.spec.node_name))
    known = {pod.meta.uid for pod in pods.values()}
    for uid, info in counted.items():
        if uid not in known and not cache.is_assumed(info.pod):
            node_name = info.pod.spec.node_name
            text = f"{info.key} is counted on {node_name}, and was gone"
            return Found.of(text, info.pod, node_key(node_name))
    there = {node.name for node in cache.nodes if node.node is not None}
    for node in nodes.values():
        if node.meta.name not in there:
            return Found.of(f"{node.meta.name} is there, and not known", node)
    return None


def _there(cache: Cache[Any], evidence: Evidence) -> dict[str, Any] | None:
    """What there was of its kind at the revision up to which it has read; None: no longer known."""
    upto = int(str(cache.upto))
    if upto < evidence.store.compacted:
        return None
    entries = evidence.store.snapshot(f"{cache.kind.plural}/", upto)
    return {entry.key: entry.value for entry in entries if cache.selector.has(entry)}
