"""Bounds: the bounded search as a search plays it: plans go out as data, what goes on from them
comes back as data."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from testbed.chooser import Chooser
from testbed.choosers.bounded import Deviant, Deviating, Frontier
from testbed.search.planned_run import Data, Outcome


class Bounds:
    """Plans Runs of few deviations, level by level."""

    def __init__(self, *, faults_max: int, deviations_max: int | None) -> None:
        self._bounds = {"faults_max": faults_max, "deviations_max": deviations_max}
        self.frontier = Frontier(faults_max=faults_max, deviations_max=deviations_max)

    def next(self, count: int) -> list[Data]:
        """Up to so many plans; none if all are planned, or wait for the Outcomes of others."""
        plans: list[Data] = []
        while len(plans) < count and (plan := self.frontier.next()) is not None:
            plans.append({**self._bounds, "plan": plan.as_list()})
        return plans

    def told(self, outcomes: Sequence[Outcome]) -> None:
        """What the Runs that were planned have shown."""
        for outcome in outcomes:
            if outcome.children is None:
                # Its worker died with it: what goes on from it will never be known.
                self.frontier.lost()
            else:
                self.frontier.told([Deviant.of(child) for child in outcome.children])

    @property
    def is_complete(self) -> bool:
        """Whether all that was to be planned has been played."""
        return self.frontier.is_complete

    @property
    def level(self) -> str:
        """How far it has come: all Runs of so few deviations and faults were played."""
        return self.frontier.level


def planned(data: Data) -> Chooser:
    """The Chooser that plays a plan."""
    plan = Deviant.of(data["plan"])
    bounds = {name: data[name] for name in ("faults_max", "deviations_max")}
    return Deviating(plan, **bounds)


def children(chooser: Chooser) -> list[Any] | None:
    """The plans that go on from the one it has played; None if it had none."""
    return [c.as_list() for c in chooser.children] if isinstance(chooser, Deviating) else None
