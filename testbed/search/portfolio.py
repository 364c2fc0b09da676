"""Portfolio: which Chooser plays which Run of a search.

A search is played in *rounds* of a stated size; whatever is learnt is learnt between two of them,
from all Outcomes before, in the order of their numbers. So Run i is a function of (seed, i, what
all Runs of earlier rounds have shown), and it does not matter who plays it, or which ends first.

1. The bounded search has the first half of each round as long as it has a plan: what needs one late
   thing, or one fault, is found by trying each, and soon. The calm run, from which all its plans go
   on, is a round of its own.
2. The others have a share each, and take turns in proportion to it: each Run goes to whom the most
   is owed (weighted round robin), so that none has all of its Runs at the end of a round.
3. A Run *earns* 1 if its way is new, 2 if a pair of it is (see `coverage.py`), and 8 if it has led
   to a new Finding. What a Chooser earns is what its Runs of the round have, for each of them.
4. After a round each weight is multiplied by 1 to 2, in proportion to what its Chooser has earned
   (multiplicative weights). When nobody has earned anything, what a weight is above or below the
   even one shrinks by a quarter: what served to find the first may not serve to find the next.
5. A share is half of an even one at the least: each race is rare for most of them, and the one that
   has found nothing yet may be the only one that can. The rest is shared by weight.

All of it is in whole numbers.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Protocol

import attrs

from testbed.search.planned_run import Outcome, PlannedRun

ROUND = 32
"""So many Runs have a round."""
ARMS = ("pct", "pos", "urw", "surw", "uniform")
"""The Choosers that have shares, in the order in which they have their first turns."""
BOUNDED = "bounded"
WHOLE = 1_000_000
"""All shares together."""
LEAST_PART = 16
"""No weight falls below this part of an even one: from nothing none would rise again."""
NEW_WAY, NEW_PAIR, NEW_FINDING = 1, 2, 8
"""What a Run earns."""


class Planned(Protocol):
    """What plans Runs: those of one level, then those of the next."""

    def next(self, count: int) -> Sequence[Any]:
        """Up to so many plans, or none if all are planned, or wait for the Outcomes of others."""

    def told(self, outcomes: Sequence[Outcome]) -> None:
        """What the Runs that were planned have shown."""

    @property
    def is_complete(self) -> bool:
        """Whether all that was to be planned has been played."""

    @property
    def level(self) -> str:
        """How far it has come."""


@attrs.define
class Arm:
    """One Chooser that has a share."""

    name: str
    weight: int
    share: int
    owed: int = 0
    runs: int = 0
    earned: int = 0
    """All that its Runs have earned."""

    @property
    def percent(self) -> int:
        """Its share, for people."""
        return round(self.share * 100 / WHOLE)


class Portfolio:
    """Makes the Jobs of round after round."""

    def __init__(self, names: Sequence[str] = ARMS, planned: Planned | None = None) -> None:
        even = WHOLE // max(len(names), 1)
        self.arms = [Arm(name, even, even) for name in names]
        self.planned = planned
        self._next_run = 0
        self._plans: list[int] = []
        """The Runs of this round that were planned."""

    def round(self) -> list[PlannedRun]:
        """The Jobs of the next round; none if there are no more."""
        first = self._next_run
        plans = list(self.planned.next(ROUND // 2 if self.arms else ROUND)) if self.planned else []
        jobs = [PlannedRun(first + place, BOUNDED, plan) for place, plan in enumerate(plans)]
        if self.arms and not (first == 0 and jobs):
            after = range(first + len(jobs), first + ROUND)
            jobs += [PlannedRun(run, self._whose_turn()) for run in after]
        self._plans = [job.run for job in jobs if job.chooser == BOUNDED]
        self._next_run = first + len(jobs)
        return jobs

    def _whose_turn(self) -> str:
        for arm in self.arms:
            arm.owed += arm.share
        chosen = max(self.arms, key=lambda arm: arm.owed)
        chosen.owed -= sum(arm.share for arm in self.arms)
        return chosen.name

    def learn(self, outcomes: Iterable[Outcome], earned: Mapping[int, int]) -> None:
        """A round is over: what its Runs have shown, and what each has earned."""
        outcomes = list(outcomes)
        if self.planned is not None and self._plans:
            plans = set(self._plans)
            self.planned.told([outcome for outcome in outcomes if outcome.run in plans])
        gains = [self._gain(arm, outcomes, earned) for arm in self.arms]
        for arm, gain in zip(self.arms, gains, strict=True):
            arm.weight = self._weighed(arm, gain, max(gains))
        self._share_out()

    def _gain(self, arm: Arm, outcomes: list[Outcome], earned: Mapping[int, int]) -> int:
        """What it has earned with each Run of this round, in thousandths."""
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
        """Half of an even share for each, and the other half of all by weight."""
        least = WHOLE // len(self.arms) // LEAST_PART if self.arms else 0
        for arm in self.arms:
            arm.weight = max(arm.weight, least)
        total = sum(arm.weight for arm in self.arms)
        for arm in self.arms:
            arm.weight = arm.weight * WHOLE // total
            arm.share = WHOLE // len(self.arms) // 2 + arm.weight // 2
