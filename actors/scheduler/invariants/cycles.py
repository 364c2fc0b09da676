"""Cycle: what a scheduler decided in the turn that has just ended, and what it knew then."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from typing import Any, ClassVar

import attrs

from actors.scheduler.decisions.decision import Candidate, Decision
from actors.scheduler.memory.books import Books
from actors.scheduler.memory.cycle_record import CycleRecord
from actors.scheduler.reference.cluster import Cluster, Guest
from actors.scheduler.reference.feasibility import FilterResults, find
from actors.scheduler.switches import SchedulerSwitches
from testbed import Evidence, Invariant
from testbed.invariant import RECORD
from testbed.objects import Node, Pod
from testbed.objects.meta import key_of
from testbed.policy import BUILT_IN
from testbed.turns.found import FORBIDDEN, Found, Wrong, told
from testbed.turns.trace import Record, Step


@attrs.define(eq=False, slots=False)
class Cycle:
    """One cycle of a scheduler.

    Only data is taken from the scheduler: which nodes and pods there are, and which pods are
    nominated where. What follows from that, the reference works out again.
    """

    who: str
    """The scheduler's name."""
    life: int
    """The number of its life."""
    now_ms: int
    books: Books
    record: CycleRecord
    decision: Decision

    program: ClassVar[str] = "scheduler"
    """Which program it is of, as the switch `preemptor` names it."""

    @property
    def pod(self) -> Pod:
        """The pod of this cycle."""
        return self.decision.pod

    @property
    def switches(self) -> SchedulerSwitches:
        """How the scheduler is meant to behave."""
        return self.books.switches

    @property
    def is_by_rule(self) -> bool:
        """Whether filters and decider are built-in ones, which the reference knows."""
        return self.switches.filters == self.switches.decider == BUILT_IN

    @property
    def chosen(self) -> Candidate | None:
        """The node on which room is made, with its victims; None if there is none."""
        preemption = self.decision.preemption
        return None if preemption is None else preemption.chosen

    @property
    def nodes(self) -> tuple[str, ...]:
        """The key of the node that was decided on; empty if none was."""
        node = self.decision.node or (self.chosen.node if self.chosen else "")
        return (node_key(node),) if node else ()

    @cached_property
    def cluster(self) -> Cluster:
        """The cluster that the decision was made by, in the reference's form."""
        snapshot = self.record.snapshot
        infos = () if snapshot is None else snapshot.infos
        nominated = [
            (info.pod, node)
            for node, infos in self.books.beliefs.nominator.nominated.items()
            for info in infos
        ]
        return Cluster.of(
            [each.node for each in infos if each.node is not None],
            [info.pod for each in infos for info in each.pods],
            nominated,
            self.record.budgets,
            self.books.beliefs.cache.namespaces,
            self.now_ms,
        )

    @cached_property
    def guest(self) -> Guest:
        """The pod, in the reference's form."""
        return Guest.of(self.pod)

    @cached_property
    def findings(self) -> FilterResults:
        """Which nodes are feasible, and why each other one is not; its own nomination is not tried
        first."""
        anywhere = attrs.evolve(self.switches, own_nomination="ignore")
        return find(self.guest, self.cluster, anywhere)

    @cached_property
    def victims(self) -> tuple[Guest, ...]:
        """The victims, in the reference's form."""
        uids = {pod.meta.uid for pod in self.chosen.victims} if self.chosen else set()
        return tuple(guest for _, guest in self.cluster.guests() if guest.uid in uids)


class Cycles:
    """Reads the Cycles of a turn once for all claims that share it: those of schedulers, or what
    else `find` gives."""

    def __init__(self, find: Callable[[Evidence], Iterator[Cycle]] | None = None) -> None:
        self._step = 0
        self._found: Sequence[Cycle] = ()
        self._find = find or _cycles

    def of(self, evidence: Evidence) -> Sequence[Cycle]:
        """The Cycles of the turn that has just ended."""
        step = evidence.table.step
        if step != self._step:
            self._step, self._found = step, tuple(self._find(evidence))
        return self._found


def records_of(evidence: Evidence) -> Iterator[Record]:
    """The records of the turn that has just ended, the last one first."""
    for record in reversed(evidence.records):
        if record.step != evidence.table.step:
            return
        yield record


def books_of(life: Any) -> Books | None:
    """The Books that this life of an actor shows; None if it has none, or there is no life."""
    found: Books | None = None if life is None else life.shown.get("scheduler")
    return found


def _cycles(evidence: Evidence) -> Iterator[Cycle]:
    for record in records_of(evidence):
        life = evidence.table.roles[record.path.partition("/")[0]].life
        books = books_of(life)
        if record.name == "cycle" and life is not None and books is not None:
            now_ms = evidence.now_ms + life.role.clock_shift_ms
            cycle = life.shown["cycle"]
            yield Cycle(life.role.name, life.number, now_ms, books, cycle, cycle.decision)


class CycleClaim(Invariant):
    """A claim about each cycle by itself."""

    reads = frozenset()
    looks_at: ClassVar[frozenset[str]] = frozenset({RECORD})
    breach_reason = FORBIDDEN

    def __init__(self, cycles: Cycles | None = None) -> None:
        self._cycles = Cycles() if cycles is None else cycles

    def look(self, step: Step | None, evidence: Evidence) -> Wrong:
        for cycle in self._cycles.of(evidence):
            if breach := self.breach_in(cycle):
                return told(
                    breach, cycle.pod, *cycle.nodes, before=f"{cycle.who}: ", actors=cycle.who
                )
        return None

    def breach_in(self, cycle: Cycle) -> str | Found:
        """What is wrong with that cycle; empty if nothing is. That it is about the pod and the node
        of the cycle need not be said."""
        raise NotImplementedError


def schedulers(evidence: Evidence) -> Iterator[tuple[str, Books, CycleRecord]]:
    """The schedulers that are up: name, what it knows, and its current cycle."""
    for role in evidence.actors:
        life = role.life if role.is_up else None
        books = books_of(life)
        if life is not None and books is not None:
            yield role.name, books, life.shown["cycle"]


def node_key(name: str) -> str:
    """The key of the node of that name."""
    return key_of(Node, name)


def names(pods: Sequence[Pod]) -> str:
    """The keys of the pods in one line."""
    return ", ".join(pod.key for pod in pods) or "nobody"
