"""Portfolio: which Chooser plays which Run of a search.

A search is played in *rounds* of a stated size. Everything is learned between two rounds, from all
Outcomes so far, in the order of their numbers. So Run i is a function of (seed, i, what all Runs of
earlier rounds have shown), and it does not matter which process plays it or which Run ends first:
one process and eight find the same.

1. The bounded search gets the first half of each round as long as it has plans: a race that needs
   one late thing or one fault is soon found by trying each of them. The calm run, from which all
   its plans go on, is a round of its own.
2. Each of the other Choosers has a share of the rest. Each Run goes to the Chooser that is owed
   most (weighted round robin), so their Runs are spread over the round.
3. A Run *earns* 1 if its way is new, 2 if one of its pairs is new (see `coverage.py`), and 8 if it
   led to a new Finding. A Chooser earns the mean of its Runs in the round.
4. After a round each weight is multiplied by 1 to 2, in proportion to what its Chooser has earned
   (multiplicative weights). If no Chooser has earned anything, each weight moves a quarter of the
   way back to the even one: what found the last race may not find the next one.
5. Each share is at least half of an even one; the rest is shared by weight. Each race is rare for
   most Choosers, and one that has found nothing yet may be the only one that can find the next.

All of it is in whole numbers, because a float might differ from one machine to another.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Protocol

import attrs

from testbed.search.planned_run import Outcome, PlannedRun

ROUND = 32
"""How many Runs a round has."""
ARMS = ("pct", "pos", "urw", "surw", "uniform")
"""The Choosers that have shares; where equally much is owed, the earlier one plays."""
BOUNDED = "bounded"
WHOLE = 1_000_000
"""All shares together."""
LEAST_PART = 16
"""No weight falls below 1/16 of an even one: multiplied, a weight of 0 would never rise again."""
NEW_WAY, NEW_PAIR, NEW_FINDING = 1, 2, 8
"""What a Run earns."""


class Planner(Protocol):
    """Plans Runs level by level: the Portfolio calls `next` before a round and `learn` after it."""

    def next(self, count: int) -> Sequence[Any]:
        """Return up to `count` plans.

        None are returned if everything is planned, or if the rest waits for Outcomes still to come.
        """

    def learn(self, outcomes: Sequence[Outcome]) -> None:
        """Take in the Outcomes of the planned Runs, in the order of their numbers."""

    @property
    def is_complete(self) -> bool:
        """Whether every plan up to the last level has been played."""

    @property
    def level(self) -> str:
        """How far it is complete, in words."""


@attrs.define
class Arm:
    """One Chooser that has a share."""

    name: str
    weight: int
    share: int
    owed: int = 0
    runs: int = 0
    earned: int = 0
    """What all its Runs so far have earned."""

    @property
    def percent(self) -> int:
        """Its share in percent, for people."""
        return round(self.share * 100 / WHOLE)


class Portfolio:
    """Makes the PlannedRuns of one round after another."""

    def __init__(self, names: Sequence[str] = ARMS, planner: Planner | None = None) -> None:
        even = WHOLE // max(len(names), 1)
        self.arms = [Arm(name, even, even) for name in names]
        self.planner = planner
        self._next_run = 0
        self._plans: list[int] = []
        """The numbers of the Runs of this round that have a plan."""

    def round(self) -> list[PlannedRun]:
        """Return the Runs of the next round; an empty list if none is left."""
        first = self._next_run
        plans = list(self.planner.next(ROUND // 2 if self.arms else ROUND)) if self.planner else []
        runs = [PlannedRun(first + place, BOUNDED, plan) for place, plan in enumerate(plans)]
        # The first plan is the calm run, and no second one exists before it is played: without this
        # the bounded search would get a single Run of the first round instead of half of them.
        if self.arms and not (first == 0 and runs):
            after = range(first + len(runs), first + ROUND)
            runs += [PlannedRun(run, self._next_chooser()) for run in after]
        self._plans = [planned.run for planned in runs if planned.chooser == BOUNDED]
        self._next_run = first + len(runs)
        return runs

    def _next_chooser(self) -> str:
        for arm in self.arms:
            arm.owed += arm.share
        chosen = max(self.arms, key=lambda arm: arm.owed)
        chosen.owed -= sum(arm.share for arm in self.arms)
        return chosen.name

    def learn(self, outcomes: Iterable[Outcome], earned: Mapping[int, int]) -> None:
        """Called after a round with what its Runs have shown, and what each of them has earned."""
        outcomes = list(outcomes)
        if self.planner is not None and self._plans:
            plans = set(self._plans)
            self.planner.learn([outcome for outcome in outcomes if outcome.run in plans])
        gains = [self._gain(arm, outcomes, earned) for arm in self.arms]
        for arm, gain in zip(self.arms, gains, strict=True):
            arm.weight = self._weighed(arm, gain, max(gains))
        self._share_out()

    def _gain(self, arm: Arm, outcomes: list[Outcome], earned: Mapping[int, int]) -> int:
        """The mean of what its Runs of this round have earned, in thousandths."""
        runs = [outcome.run for outcome in outcomes if outcome.chooser == arm.name]
        gain = sum(earned.get(run, 0) for run in runs)
        arm.runs += len(runs)
        arm.earned += gain
        return 1000 * gain // max(len(runs), 1)

    def _weighed(self, arm: Arm, gain: int, best: int) -> int:
        even = WHOLE // len(self.arms)
        if best == 0:
            return arm.weight + (even - arm.weight) // 4
        return arm.weight * (best + gain) // best

    def _share_out(self) -> None:
        """Give each half of an even share, and share out the other half by weight."""
        least = WHOLE // len(self.arms) // LEAST_PART if self.arms else 0
        for arm in self.arms:
            arm.weight = max(arm.weight, least)
        total = sum(arm.weight for arm in self.arms)
        for arm in self.arms:
            arm.weight = arm.weight * WHOLE // total
            arm.share = WHOLE // len(self.arms) // 2 + arm.weight // 2
