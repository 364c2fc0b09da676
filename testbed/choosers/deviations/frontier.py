"""Frontier: the plans of a bounded search that wait, and the levels of which all Runs are played.

A *level* is all Runs with a given number of faults and of deviations. All levels with one number of
faults are a *lane*: its plans are played fewest deviations first, and in each level the holds of
effects before those of glue. The lanes take turns. So a race that needs a fault need not wait until
every Run without one is played, nor the other way round.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence

import attrs

from testbed.choosers.deviations.deviating import Deviant
from testbed.words import counted

FRONTIER_MAX = 500_000
"""The most plans that may wait. Further ones are not played, and then no level from theirs on is
called complete."""


@attrs.frozen
class Level:
    """All Runs with a given number of faults and of deviations."""

    # A decision never makes a plan cheaper: it goes on from one with as many faults and deviations
    # or fewer. When no such plan waits and none is being played, no Run that is still to come can
    # add one: the level is complete, whatever the others bring.

    faults: int
    deviations: int
    runs: int


@attrs.define(eq=False)
class _Plans:
    """The plans of one level."""

    faults: int
    deviations: int
    waiting: tuple[deque[Deviant], deque[Deviant]] = attrs.field(factory=lambda: (deque(), deque()))
    """Those that come first, and those that come last."""
    out: int = 0
    """Plans that are being played."""
    runs: int = 0
    is_cut: bool = False
    """Whether a plan was left out or lost."""
    is_complete: bool = False

    @property
    def is_drained(self) -> bool:
        return not (self.out or any(self.waiting) or self.is_cut)


class Frontier:
    """The plans that wait to be played, and the levels that are complete."""

    def __init__(self, *, faults_max: int = 1, deviations_max: int | None = 2) -> None:
        self.faults_max = faults_max
        self.deviations_max = deviations_max
        self.levels: list[Level] = []
        """The levels that are complete, in the order in which they were completed."""
        self.runs = 0
        self._plans: dict[tuple[int, int], _Plans] = {}
        """By faults and deviations, in order."""
        self._playing: deque[_Plans] = deque()
        """The level of each plan that is being played, in the order in which they were given."""
        self._turn = 0
        """The lane that gives the next plan, if it has one."""
        self._count = 0
        self._push(Deviant())

    @property
    def is_complete(self) -> bool:
        """Whether there is nothing left to play."""
        return all(plans.is_drained for plans in self._plans.values())

    def next(self, deviations_max: int | None = None) -> Deviant | None:
        """The next plan. None if no plan is left, or if none can be given before those that are
        being played have ended; or if those that are left have more deviations than that."""
        for step in range(self.faults_max + 1):
            lane = (self._turn + step) % (self.faults_max + 1)
            plans = self._current(lane)
            if plans is None or (deviations_max is not None and plans.deviations > deviations_max):
                continue
            for line in plans.waiting:
                if line:
                    self._turn = (lane + 1) % (self.faults_max + 1)
                    self._count -= 1
                    self._playing.append(plans)
                    plans.out += 1
                    return line.popleft()
        return None

    def _current(self, lane: int) -> _Plans | None:
        """The level that a lane has come to: the first of which a plan waits or is being played."""
        at_work = (
            p for p in self._plans.values() if p.faults == lane and (p.out or any(p.waiting))
        )
        return next(at_work, None)

    def told(self, children: Sequence[Deviant]) -> None:
        """The plan that was given first of those being played has ended, and these plans go on
        from it."""
        plans = self._playing.popleft()
        plans.out -= 1
        plans.runs += 1
        self.runs += 1
        for child in children:
            self._push(child)
        if plans.is_drained:
            self._complete()

    def lost(self) -> None:
        """The plan that was given first has ended without a result: no level from its own on will
        be complete."""
        plans = self._playing.popleft()
        plans.out -= 1
        plans.is_cut = True

    def _push(self, plan: Deviant) -> None:
        level = (plan.faults, plan.deviations)
        if level not in self._plans:
            self._plans[level] = _Plans(*level)
            self._plans = dict(sorted(self._plans.items()))
        if self._count >= FRONTIER_MAX:
            self._plans[level].is_cut = True
            return
        self._count += 1
        self._plans[level].waiting[plan.comes_last].append(plan)

    def _complete(self) -> None:
        """Note each level that is complete now."""
        for plans in self._plans.values():
            if not plans.is_complete and self._is_complete(plans):
                plans.is_complete = True
                self.levels.append(Level(plans.faults, plans.deviations, plans.runs))

    def _is_complete(self, level: _Plans) -> bool:
        """Whether all is played that has as many faults and deviations or fewer."""
        return all(
            plans.is_drained
            for plans in self._plans.values()
            if plans.faults <= level.faults and plans.deviations <= level.deviations
        )

    @property
    def level(self) -> str:
        """How far it has come, in words: up to where all Runs have been played."""
        if self.is_complete:
            return f"complete up to {_in_words(self.deviations_max, self.faults_max)}"
        if not self.levels:
            return "not yet complete at any level"
        # For each number of faults its last level, unless one with more faults goes as far.
        widest: dict[int, int] = {}
        for level in self.levels:
            widest[level.faults] = max(level.deviations, widest.get(level.faults, 0))
        words = [
            _in_words(deviations, faults)
            for faults, deviations in sorted(widest.items())
            if all(d < deviations for f, d in widest.items() if f > faults)
        ]
        return f"complete up to {', and '.join(words)}"


def _in_words(deviations: int | None, faults: int) -> str:
    of = "any deviations" if deviations is None else counted(deviations, "deviation")
    return f"{of}, {counted(faults, 'fault')}"
