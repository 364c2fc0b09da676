"""No ping-pong: pods do not displace one another round and round (INV-20, INV-21)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import ClassVar

import attrs

from actors.scheduler.invariants.cycles import node_key
from actors.scheduler.invariants.progress.displacements import (
    Displaced,
    displacements,
    workload_of,
)
from actors.scheduler.invariants.progress.wishes import READ, OutsideWishes
from testbed import Evidence, Invariant
from testbed.invariant import COMMIT
from testbed.objects import Pod
from testbed.turns.found import ROUND, Found, Wrong
from testbed.turns.trace import Step

SLOW_MS = 120_000
SHOWN_MAX = 4
"""How many displacements of a round are told one by one."""


@attrs.frozen(eq=False)
class _Edge:
    """One displacement, and those before it that led to it."""

    gone: Displaced
    place: tuple[str, str]
    """The workload of the pod that went, and its node."""
    before: tuple[_Edge, ...]
    """The displacements that made this pod, or the one that it went for, be created anew."""


class NoPingPong(Invariant):
    """No workload is displaced from a node twice because of its own displacement, unless somebody
    outside wanted something in between.

    A displacement leads to another one if a pod that takes part in the second, goes or stays, was
    created after the first in place of the pod that went then. So with displacements for edges and
    pods contracted to their workloads, a round is a path that leads back to the same workload on
    the same node. It may be of any kinds: a scheduler or Rescheduler makes room (preempt), a
    kubelet does (admit), or relieves its node (pressure), YuniKorn does (yk).

    With one scheduler and unchanged priorities there is no round of preempt alone: each pod goes
    for a more important one (INV-21). Such a round takes a bug, or schedulers that disagree.

    `no_lasso` proves that a state comes back, and that it does so for ever; which states are alike
    a scenario has to tell it. This claim needs no such word, and names who displaced whom. But one
    round is enough for it: it does not say that there will be another.

    Assumed is that what is created in place of a pod has its controller, or its name, or the name
    that it was generated from. A displacement by no record, such as an eviction by a descheduler,
    is not seen.
    """

    name = "no_ping_pong"
    breach_reason = ROUND
    reads = READ
    looks_at: ClassVar[frozenset[str]] = frozenset({COMMIT})

    def __init__(self) -> None:
        self._wishes = OutsideWishes()
        self._last: dict[str, _Edge] = {}
        """The last displacement of each workload since the last wish."""

    def look(self, step: Step | None, evidence: Evidence) -> Wrong:
        gone = tuple(displacements(evidence))
        if self._wishes.is_in(evidence, gone):
            self._last.clear()
        for each in gone:
            if not each.node:
                continue
            place = (workload_of(each.pod), each.node)
            edge = _Edge(each, place, tuple(self._causes(each, evidence)))
            self._last[place[0]] = edge
            if round_ := _round_to(edge):
                # What comes next is the same round again. Without it no path grows without end.
                self._last.clear()
                return _told(round_)
        return None

    def _causes(self, gone: Displaced, evidence: Evidence) -> Iterator[_Edge]:
        """The displacements because of which either of the two pods was created."""
        yield from self._cause(gone.pod, gone.born)
        entry = evidence.store.peek(gone.by) if gone.by else None
        if entry is not None and isinstance(entry.value, Pod):
            yield from self._cause(entry.value, entry.created)

    def _cause(self, pod: Pod, born: int) -> Iterator[_Edge]:
        last = self._last.get(workload_of(pod))
        if last is not None and last.gone.revision < born:
            yield last


def _round_to(end: _Edge) -> Sequence[Displaced]:
    """The displacements from the last one at the same place to this one, by all the ways in which
    the one led to the other; empty if none did."""
    led = [end]
    for edge in led:
        led += [each for each in edge.before if each not in led]
    led.sort(key=lambda edge: edge.gone.revision)
    places = [edge.place for edge in led[:-1]]
    if end.place not in places:
        return ()
    first = len(places) - 1 - places[::-1].index(end.place)
    round_ = [led[first]]
    for edge in led[first:]:
        if not set(edge.before).isdisjoint(round_):
            round_.append(edge)
    return [edge.gone for edge in round_]


def _told(round_: Sequence[Displaced]) -> Found:
    """The round as a sentence: its kinds, its period, and who went for whom."""
    kinds = " and ".join(sorted({each.kind for each in round_[1:]}))
    period_ms = round_[-1].now_ms - round_[0].now_ms
    slowly = "slowly, " if period_ms > SLOW_MS else ""
    shown = [_who(each) for each in round_]
    if len(shown) > SHOWN_MAX:
        shown = [*shown[:2], "…", *shown[-2:]]
    again = f"{slowly}a round of {kinds} in {period_ms:,} ms"
    text = f"{again}, and nobody outside wanted it: {', then '.join(shown)}"
    pods = (key for each in round_ for key in (each.pod.key, each.by) if key)
    nodes = (node_key(each.node) for each in round_)
    return Found.of(text, *pods, *nodes, fields="spec.node_name", since=round_[0].revision)


def _who(gone: Displaced) -> str:
    return f"{gone.pod.key} went from {gone.node}" + (f" for {gone.by}" if gone.by else "")
