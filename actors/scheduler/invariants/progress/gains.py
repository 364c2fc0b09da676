"""Each preemption is a gain, so there is an end to them (INV-22)."""

from __future__ import annotations

from collections import Counter
from typing import ClassVar

from actors.scheduler.invariants.cycles import names, node_key, records_of
from actors.scheduler.invariants.progress.displacements import (
    PREEMPT,
    Displaced,
    displacements,
)
from actors.scheduler.invariants.progress.wishes import READ, OutsideWishes
from actors.scheduler.reference.importance import standing
from actors.scheduler.switches import SchedulerSwitches
from testbed import Evidence, Invariant
from testbed.invariant import COMMIT, RECORD, RECORDS
from testbed.objects import Pod, requests_of
from testbed.store.change import Change
from testbed.turns.found import FORBIDDEN, TOO_MANY, Found, Wrong
from testbed.turns.trace import Step

DECISIONS_PER_POD = 3


class EachPreemptionIsAGain(Invariant):
    """When a pod is bound that others went for, the most important ones among it and them are more
    than they were: of the highest priority at which what came and what went differ, more of some
    resource is requested, and less of none. So each such preemption makes the vector of all that is
    requested, by priority, larger in lexicographic order, and without a wish from outside there can
    only be so many. What other pods take meanwhile only adds to it, so it is left out.

    A livelock is suspected, and is a breach, once room was made more than three times as often as
    there were pods at one time, and somebody outside wanted nothing meanwhile. Preemption that
    never ends in a bind is found by that alone.

    Assumed is that priorities stay as they are. What a pod went for is told by the write that ended
    it, so a pod counts that only bore the name of a victim (SCH-98): in 1.26 that may be a loss.
    """

    name = "each_preemption_is_a_gain"
    breach_reason = TOO_MANY
    reads = READ | {RECORDS}
    looks_at: ClassVar[frozenset[str]] = frozenset({COMMIT, RECORD})

    def __init__(self, *, decisions_per_pod: int = DECISIONS_PER_POD) -> None:
        self._per_pod = decisions_per_pod
        self._wishes = OutsideWishes()
        self._step = 0
        self._lost: dict[str, list[tuple[Pod, SchedulerSwitches]]] = {}
        """The pods that went for one that is not bound yet, by its uid, each with the switches of
        the scheduler that wanted it."""
        self._pods = self._pods_max = -1
        """How many pods there are, and how many there were at most; -1: not counted yet."""
        self._decisions = 0
        """How often room was made since the last wish."""

    def look(self, step: Step | None, evidence: Evidence) -> Wrong:
        if evidence.table.step == self._step:
            return None
        self._step = evidence.table.step
        gone = tuple(displacements(evidence))
        self._note_lost(evidence, gone)
        self._count_pods(evidence)
        if self._wishes.is_in(evidence, gone):
            self._decisions = 0
        for change in evidence.changes:
            if breach := self._breach_in(change):
                return breach
        return self._livelock(evidence)

    def _note_lost(self, evidence: Evidence, gone: tuple[Displaced, ...]) -> None:
        request = evidence.served
        switches = None if request is None else request.role.switches
        for each in gone:
            if each.kind == PREEMPT and isinstance(switches, SchedulerSwitches):
                self._lost.setdefault(each.by_uid, []).append((each.pod, switches))

    def _count_pods(self, evidence: Evidence) -> None:
        if self._pods < 0:
            # Once in a Run: those of its beginning. What this turn has changed is in it already.
            self._pods = len(list(evidence.store.snapshot("pods/")))
        else:
            for change in evidence.changes:
                if change.key.startswith("pods/"):
                    self._pods += (change.old is None) - (change.new is None)
        self._pods_max = max(self._pods_max, self._pods)

    def _breach_in(self, change: Change) -> Found | None:
        old, new = change.before, change.after
        if not isinstance(new, Pod):
            if isinstance(old, Pod):
                self._lost.pop(old.meta.uid, None)
            return None
        if not new.is_bound or new.meta.uid not in self._lost:
            return None
        lost = self._lost.pop(new.meta.uid)
        return _is_no_gain(new, lost)

    def _livelock(self, evidence: Evidence) -> Wrong:
        for record in records_of(evidence):
            chosen = record.facts.get("preemption", {}).get("chosen")
            self._decisions += bool(chosen)
            if chosen and self._decisions > self._per_pod * self._pods_max:
                times = f"room was made {self._decisions} times, though there were never more than"
                last = f"the last time for {record.facts['pod']} on {chosen}"
                text = f"{times} {self._pods_max} pods: {last}"
                who, node = record.path.partition("/")[0], node_key(chosen)
                return Found.of(text, record.facts["pod"], node, actors=who)
        return None


def _is_no_gain(pod: Pod, lost: list[tuple[Pod, SchedulerSwitches]]) -> Found | None:
    """Why what that pod takes does not outweigh what went for it; None if it does."""
    switches = lost[-1][1]
    difference: dict[tuple[int, int], Counter[str]] = {}
    for each, sign in ((pod, 1), *((other, -1) for other, _ in lost)):
        level = difference.setdefault(standing(each, switches), Counter())
        level["pods"] += sign
        for name, amount in requests_of(each).items():
            level[name] += sign * amount
    for rank in sorted(difference, reverse=True):
        amounts = {amount for amount in difference[rank].values() if amount}
        if amounts:
            if min(amounts) > 0:
                return None
            break
    gone = [other for other, _ in lost]
    text = f"{names(gone)} went for {pod.key}, which is bound, and nothing more important"
    return Found.of(f"{text} is there for it", pod, *gone, reason=FORBIDDEN)
