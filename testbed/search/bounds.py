"""Bounds: the planner of Runs with few deviations, for a search that plays them elsewhere.

Plans go out as plain data, and the plans that go on from them come back as plain data.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import attrs

from testbed.chooser import Chooser
from testbed.choosers.deviations.deviating import Deviant, Deviating
from testbed.choosers.deviations.frontier import Frontier
from testbed.search.planned_run import Data, Outcome


class Bounds:
    """Plans Runs with few deviations, level by level."""

    def __init__(self, *, faults_max: int, deviations_max: int | None) -> None:
        self._bounds = {"faults_max": faults_max, "deviations_max": deviations_max}
        self.frontier = Frontier(faults_max=faults_max, deviations_max=deviations_max)

    def next(self, count: int) -> list[Data]:
        """Return up to `count` plans.

        None are returned if everything is planned, or if the rest waits for Outcomes still to come.
        """
        plans: list[Data] = []
        while len(plans) < count and (plan := self.frontier.next()) is not None:
            plans.append({**self._bounds, "plan": plan.as_list()})
        return plans

    def learn(self, outcomes: Sequence[Outcome]) -> None:
        """Take in the Outcomes of planned Runs, and the plans that go on from each.

        The Outcomes must come in the order of their Runs. The frontier is a queue: the order in
        which plans enter it decides which plan each later Run gets.
        """
        for outcome in outcomes:
            if outcome.children is None:
                # Its worker died or hung, so the plans that go on from it are unknown for ever. No
                # level from this one on may be called complete, though it is still searched.
                self.frontier.lost()
            else:
                plans = (Deviant.of(child) for child in outcome.children)
                self.frontier.told([attrs.evolve(plan, trail=outcome.trail) for plan in plans])

    @property
    def is_complete(self) -> bool:
        """Whether every plan up to the last level has been played."""
        return self.frontier.is_complete

    @property
    def level(self) -> str:
        """How far it is complete, in words: up to how many deviations and faults."""
        return self.frontier.level


def chooser_for(data: Data) -> Chooser:
    """Return the Chooser that plays a plan which `Bounds.next` returned."""
    plan = Deviant.of(data["plan"])
    bounds = {name: data[name] for name in ("faults_max", "deviations_max")}
    return Deviating(plan, **bounds)


def without_trail(data: Data) -> Data:
    """Return the same plan without its trail: its Run is compared with nothing."""
    return {**data, "plan": [*data["plan"][:4], ""]}


def plan_before(data: Data) -> Data:
    """Return the plan that this one goes on from."""
    return {**data, "plan": [data["plan"][0][:-1], *data["plan"][1:4], ""]}


def steps_shared(chooser: Chooser) -> int:
    """Return how many Steps the Run of a plan shares with that of the plan before it."""
    return chooser.shared if isinstance(chooser, Deviating) else 0


def children_of(chooser: Chooser) -> list[Any] | None:
    """Return the plans that go on from the one it has played; None if it plays no plan."""
    return [c.as_list()[:-1] for c in chooser.children] if isinstance(chooser, Deviating) else None


def trail_of(chooser: Chooser) -> str:
    """Return the trail that these plans share, which is kept once for all of them."""
    return chooser.trail if isinstance(chooser, Deviating) else ""
