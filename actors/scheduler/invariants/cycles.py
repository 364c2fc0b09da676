"""Cycle: what a scheduler has decided in the turn that has just ended, and by what."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import ClassVar

import attrs

from actors.scheduler.decisions.decision import Candidate, Decision
from actors.scheduler.memory.books import Books
from actors.scheduler.reference.cluster import Cluster, Guest
from actors.scheduler.reference.feasibility import FilterResults, find
from actors.scheduler.switches import SchedulerSwitches
from testbed import Evidence, Invariant
from testbed.invariant import RECORD
from testbed.objects import Pod
from testbed.policy import BUILT_IN
from testbed.turns.trace import Record, Step


@attrs.define(eq=False, slots=False)
class Cycle:
    """One of them. What the scheduler knew is taken from its books as mere data: which nodes, which
    pods, who is nominated where; what follows from it, the reference works out again."""

    who: str
    """The scheduler's name."""
    life: int
    """Which of its lives."""
    now_ms: int
    books: Books
    decision: Decision

    @property
    def pod(self) -> Pod:
        """The pod that was tried."""
        return self.decision.pod

    @property
    def switches(self) -> SchedulerSwitches:
        """How the scheduler is meant to behave."""
        return self.books.switches

    @property
    def is_by_rule(self) -> bool:
        """Whether its filters, and who decides, are those that the reference knows."""
        return self.switches.filters == self.switches.decider == BUILT_IN

    @property
    def chosen(self) -> Candidate | None:
        """Where room is made for it, and at whose cost; None: nowhere."""
        preemption = self.decision.preemption
        return None if preemption is None else preemption.chosen

    @cached_property
    def cluster(self) -> Cluster:
        """What it was decided by."""
        snapshot = self.books.snapshot
        infos = () if snapshot is None else snapshot.infos
        nominated = [
            (info.pod, node)
            for node, infos in self.books.nominator.nominated.items()
            for info in infos
        ]
        return Cluster.of(
            [each.node for each in infos if each.node is not None],
            [info.pod for each in infos for info in each.pods],
            nominated,
            self.books.last_budgets,
            self.books.cache.namespaces,
            self.now_ms,
        )

    @cached_property
    def guest(self) -> Guest:
        """The pod, as it is counted."""
        return Guest.of(self.pod)

    @cached_property
    def findings(self) -> FilterResults:
        """Which nodes take it, and why each other does not, its own nomination aside."""
        anywhere = attrs.evolve(self.switches, own_nomination="ignore")
        return find(self.guest, self.cluster, anywhere)

    @cached_property
    def victims(self) -> tuple[Guest, ...]:
        """Who has to go, as they are counted where they are."""
        uids = {pod.meta.uid for pod in self.chosen.victims} if self.chosen else set()
        return tuple(guest for _, guest in self.cluster.guests() if guest.uid in uids)


class Cycles:
    """Reads them, once for all claims that ask."""

    def __init__(self) -> None:
        self._step = 0
        self._found: Sequence[Cycle] = ()

    def of(self, evidence: Evidence) -> Sequence[Cycle]:
        """Those of the turn that has just ended."""
        step = evidence.table.step
        if step != self._step:
            self._step, self._found = step, tuple(_cycles(evidence))
        return self._found


def records_of(evidence: Evidence) -> Iterator[Record]:
    """What was recorded in the turn that has just ended, the last first."""
    for record in reversed(evidence.records):
        if record.step != evidence.table.step:
            return
        yield record


def _cycles(evidence: Evidence) -> Iterator[Cycle]:
    for record in records_of(evidence):
        life = evidence.table.roles[record.path.partition("/")[0]].life
        books = None if life is None else life.shown.get("scheduler")
        if record.name == "cycle" and life is not None and books is not None:
            now_ms = evidence.now_ms + life.role.clock_shift_ms
            yield Cycle(life.role.name, life.number, now_ms, books, books.last)


class CycleClaim(Invariant):
    """A claim about each cycle by itself."""

    reads = frozenset()
    looks_at: ClassVar[frozenset[str]] = frozenset({RECORD})

    def __init__(self, cycles: Cycles | None = None) -> None:
        self._cycles = Cycles() if cycles is None else cycles

    def look(self, step: Step | None, evidence: Evidence) -> str | None:
        for cycle in self._cycles.of(evidence):
            if said := self.said_of(cycle):
                return f"{cycle.who}: {said}"
        return None

    def said_of(self, cycle: Cycle) -> str:
        """What is wrong with that cycle; empty: nothing."""
        raise NotImplementedError


def schedulers(evidence: Evidence) -> Iterator[tuple[str, Books]]:
    """Those that are up, by name, each with what it knows."""
    for role in evidence.actors:
        life = role.life if role.is_up else None
        if life is not None and "scheduler" in life.shown:
            yield role.name, life.shown["scheduler"]


def names(pods: Sequence[Pod]) -> str:
    """Pods, for people."""
    return ", ".join(pod.key for pod in pods) or "nobody"
