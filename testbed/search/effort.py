"""Effort: how much a search is to do, in a word, and the Portfolio that does it."""

from __future__ import annotations

import attrs

from testbed.search.bounds import Bounds
from testbed.search.portfolio import ARMS, BOUNDED, Portfolio

COMPLETE = "complete"


@attrs.frozen
class Effort:
    """What a search looks at if it is not told otherwise."""

    name: str
    runs_max: int | None
    """None: as many as there are."""
    deviations_max: int = 0
    faults_max: int = 0
    """The last level of the bounded search, among others."""
    alone_max: int = 0
    """Of how many deviations its last level is if it plays alone, to its end."""


EFFORTS = {
    effort.name: effort
    for effort in (
        Effort("quick", 400, deviations_max=1, faults_max=1, alone_max=2),
        Effort("deep", 8_000, deviations_max=3, faults_max=2, alone_max=3),
        Effort(COMPLETE, None),
    )
}


def portfolio_of(effort: Effort, chooser: str | None, faults_max: int) -> Portfolio:
    """Who plays: all of them, or the one that is named. So many faults are allowed in a Run."""
    if effort.name == COMPLETE:
        return Portfolio([COMPLETE])
    if chooser == BOUNDED:
        # So many faults and no more: a scenario that allows none has no Run with one.
        alone = Bounds(faults_max=effort.faults_max, deviations_max=effort.alone_max)
        return Portfolio([], alone)
    if chooser is not None:
        return Portfolio([chooser])
    return Portfolio(
        ARMS,
        Bounds(faults_max=min(effort.faults_max, faults_max), deviations_max=effort.deviations_max),
    )


def runs_of(effort: Effort, chooser: str | None) -> int | None:
    """How many Runs that is; None: as many as there are, as of a bounded search alone."""
    return None if chooser == BOUNDED else effort.runs_max
