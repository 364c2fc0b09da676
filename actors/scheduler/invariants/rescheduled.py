"""What is claimed of a Rescheduler: it makes room by the scheduler's own rules (CTL-51)."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import ClassVar, cast

import attrs

from actors.scheduler.invariants.budgets import BudgetsAreCounted
from actors.scheduler.invariants.cheapest_node import RoomIsMadeWhereItCostsLeast
from actors.scheduler.invariants.cycles import Cycle, CycleClaim, Cycles, records_of
from actors.scheduler.invariants.lower_victims import VictimsAreLessImportant
from actors.scheduler.invariants.no_pointless_preemption import NoPreemptionIsPointless
from actors.scheduler.invariants.own_node_only import OnlyItsOwnNodeIsCleared
from actors.scheduler.memory.books import Books
from actors.scheduler.reference.cluster import Cluster
from actors.scheduler.rescheduling.rescheduler import ReschedulingLoop
from actors.scheduler.switches import SchedulerSwitches
from testbed import Evidence


@attrs.define(eq=False, slots=False)
class RoomMaking(Cycle):
    """One decision of a Rescheduler to make room. It has no Books: no queue, nothing assumed."""

    loop: ReschedulingLoop

    program: ClassVar[str] = "rescheduler"

    @property
    def switches(self) -> SchedulerSwitches:
        return self.loop.switches

    @cached_property
    def cluster(self) -> Cluster:
        snapshot = self.record.snapshot
        infos = () if snapshot is None else snapshot.infos
        return Cluster.of(
            [each.node for each in infos if each.node is not None],
            [info.pod for each in infos for info in each.pods],
            [(info.pod, node) for node, some in self.loop.nominated.items() for info in some],
            self.record.budgets,
            {} if snapshot is None else snapshot.namespaces,
            self.now_ms,
        )


def room_makings(evidence: Evidence) -> Iterator[Cycle]:
    """The decisions of Reschedulers in the turn that has just ended."""
    for record in records_of(evidence):
        life = evidence.table.roles[record.path.partition("/")[0]].life
        loop: ReschedulingLoop | None = None if life is None else life.shown.get("rescheduler")
        if record.name != "makes room" or life is None or loop is None:
            continue
        now_ms, made = evidence.now_ms + life.role.clock_shift_ms, loop.cycle_record
        if made.decision is not None:
            no_books = cast(Books, None)
            yield RoomMaking(
                life.role.name, life.number, now_ms, no_books, made, made.decision, loop
            )


def rescheduler_claims() -> tuple[CycleClaim, ...]:
    """All claims about Reschedulers: `world.claim(*rescheduler_claims())`. Each is a claim about
    schedulers, too; here it is asked of what a Rescheduler has decided."""
    cycles = Cycles(room_makings)
    return (
        VictimsAreLessImportant(cycles), NoPreemptionIsPointless(cycles),
        RoomIsMadeWhereItCostsLeast(cycles), BudgetsAreCounted(cycles),
        OnlyItsOwnNodeIsCleared(cycles),
    )  # fmt: skip
