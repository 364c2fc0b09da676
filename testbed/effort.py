"""Effort: how much a search is to do, in a word, and the Portfolio that does it."""

from __future__ import annotations

import attrs

from testbed.bounds import Bounds
from testbed.portfolio import ARMS, BOUNDED, Portfolio

COMPLETE = "complete"


@attrs.frozen
class Effort:
    """What a search looks at if it is not told otherwise."""

    name: str
    runs_max: int | None
    """None: as many as there are."""
    deviations_max: int = 0
    faults_max: int = 0
    """The last level of the bounded search."""


EFFORTS = {
    effort.name: effort
    for effort in (
        Effort("quick", 400, deviations_max=1, faults_max=1),
        Effort("deep", 8_000, deviations_max=3, faults_max=2),
        Effort(COMPLETE, None),
    )
}


def portfolio_of(effort: Effort, chooser: str | None, faults_max: int) -> Portfolio:
    """Who plays: all of them, or the one that is named. So many faults are allowed in a Run."""
    if effort.name == COMPLETE:
        return Portfolio([COMPLETE])
    bounds = Bounds(
        faults_max=min(effort.faults_max, faults_max), deviations_max=effort.deviations_max
    )
    if chooser is None:
        return Portfolio(ARMS, bounds)
    if chooser == BOUNDED:
        return Portfolio([], bounds)
    return Portfolio([chooser])
