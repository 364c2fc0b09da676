"""Effort: one word for how much a search plays (`quick`, `deep`, `complete`), and its Portfolio."""

from __future__ import annotations

import attrs

from testbed.search.bounds import Bounds
from testbed.search.portfolio import ARMS, BOUNDED, Portfolio

COMPLETE = "complete"


@attrs.frozen
class Effort:
    """How much a search plays unless the user says otherwise."""

    name: str
    runs_max: int | None
    """None: as many Runs as there are."""
    deviations_max: int = 0
    faults_max: int = 0
    """With `deviations_max`: the last level of the bounded search when it plays beside other
    Choosers."""
    alone_max: int = 0
    """The deviations of the last level of the bounded search when it plays alone, to its end."""


EFFORTS = {
    effort.name: effort
    for effort in (
        Effort("quick", 400, deviations_max=1, faults_max=1, alone_max=2),
        Effort("deep", 8_000, deviations_max=3, faults_max=2, alone_max=3),
        Effort(COMPLETE, None),
    )
}


def portfolio_of(effort: Effort, chooser: str | None, faults_max: int) -> Portfolio:
    """Return the Portfolio of a search: all Choosers, or only the one that is named.

    `faults_max` is how many faults the scenario allows in one Run.
    """
    if effort.name == COMPLETE:
        return Portfolio([COMPLETE])
    if chooser == BOUNDED:
        # Not cut down to what the scenario allows: one that allows no fault has no Run with a
        # fault, so the level that is announced at the end is true all the same.
        alone = Bounds(faults_max=effort.faults_max, deviations_max=effort.alone_max)
        return Portfolio([], alone)
    if chooser is not None:
        return Portfolio([chooser])
    return Portfolio(
        ARMS,
        Bounds(faults_max=min(effort.faults_max, faults_max), deviations_max=effort.deviations_max),
    )


def runs_of(effort: Effort, chooser: str | None) -> int | None:
    """Return how many Runs the search plays; None: as many as there are.

    The bounded search alone has no limit of Runs: it ends with its last level.
    """
    return None if chooser == BOUNDED else effort.runs_max
