"""No pod waits for an event that has happened already (SCH-20, SCH-25)."""

from __future__ import annotations

from typing import ClassVar

from actors.scheduler.invariants.cycles import Cycle, Cycles, node_key, schedulers
from actors.scheduler.memory.books import Books
from actors.scheduler.reference.cluster import Cluster, Guest
from actors.scheduler.reference.feasibility import find
from actors.scheduler.reference.neighbours import apart, near
from testbed import Evidence, Invariant
from testbed.invariant import DELIVERY, RECORD
from testbed.turns.found import MISSING, Found, Wrong, told
from testbed.turns.trace import Step


class NobodyWaitsInVain(Invariant):
    """No unschedulable pod would fit by what its scheduler knows now: whatever has made room was an
    event that moved it.

    Not claimed where 1.26 itself misses events: for a pod that had to leave room for nominated pods
    when it was tried; that has affinity, anti-affinity or spread constraints; or that was assumed
    and lost its node.
    """

    name = "nobody_waits_in_vain"
    reads = frozenset()
    looks_at: ClassVar[frozenset[str]] = frozenset({DELIVERY, RECORD})

    def __init__(self, cycles: Cycles | None = None) -> None:
        self._cycles = Cycles() if cycles is None else cycles
        self._excused: dict[tuple[str, str], bool] = {}
        """Whether nothing is claimed of a pod since its last cycle, by scheduler and key."""

    def look(self, step: Step | None, evidence: Evidence) -> Wrong:
        for cycle in self._cycles.of(evidence):
            self._excused[(cycle.who, cycle.pod.key)] = _is_excused(cycle)
        for who, books, _ in schedulers(evidence):
            if not books.switches.assume_ttl_ms and (breach := self._breach_in(who, books)):
                return told(breach, before=f"{who}: ", actors=who)
        return None

    def _breach_in(self, who: str, books: Books) -> Found | None:
        waits = [
            pod
            for key in books.beliefs.queue.places["unschedulable"]
            if not self._excused.get((who, key), True)
            and (pod := books.informers.pod(key)) is not None
            and not (near(pod) or apart(pod) or pod.spec.topology_spread)
            and not pod.spec.scheduling_gates
        ]
        cluster = cluster_of(books) if waits else Cluster({})
        for pod in waits:
            feasible = find(Guest.of(pod), cluster, books.switches).feasible
            if feasible:
                text = f"{pod.key} waits for news, and fits on {feasible[0]}"
                return Found.of(text, pod, node_key(feasible[0]), reason=MISSING)
        return None


def _is_excused(cycle: Cycle) -> bool:
    """Whether 1.26 may miss the event that makes room for this pod."""
    # A nomination that is cleared, or goes elsewhere, makes room and is no event in 1.26. Nor is a
    # pod moved for the room that it gave back itself when it was not bound (SCH-66).
    pod, decision = cycle.pod, cycle.decision
    nominated = cycle.books.beliefs.nominator.nominated.values()
    yielded = any(
        info.uid != pod.meta.uid and info.priority >= pod.priority
        for infos in nominated
        for info in infos
    )
    return yielded or bool(decision.node) or decision.is_error or not cycle.is_by_rule


def cluster_of(books: Books) -> Cluster:
    """The cluster as the scheduler counts it now, in the reference's form."""
    nodes = books.beliefs.cache.nodes
    nominated = books.beliefs.nominator.nominated
    return Cluster.of(
        [each.node for each in nodes if each.node is not None],
        [info.pod for each in nodes for info in each.pods],
        [(info.pod, node) for node, infos in nominated.items() for info in infos],
    )
