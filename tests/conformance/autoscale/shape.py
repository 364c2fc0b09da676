"""Autoscale: a kind of recorded case, what a cluster autoscaler does in passes."""

from __future__ import annotations

import attrs

from tests.conformance.autoscale.matching import mismatches
from tests.conformance.autoscale.playing import play
from tests.conformance.shape import Line

EXACT = "exact"
LOTS_MAX = 20
"""How many lots are tried."""


@attrs.frozen
class Autoscale:
    """A case that our autoscaler plays: one pass, or hours."""

    name: str = "autoscale"
    why_not: str = ""
    tally: str = "conformance"
    spread: int = 8

    def fits(self, line: Line) -> bool:
        """Whether passes are told."""
        case = line.get("case")
        return isinstance(case, dict) and "groups" in case and "passes" in case

    def differences(self, line: Line) -> list[str]:
        """Each leaf that binds and differs, and the first instant of the log that does.

        What the real program left to chance may have come out in more ways than were seen. So then
        ours agrees if it does by some lots.
        """
        expect, case = line["expect"], line["case"]
        found = mismatches(expect, play(case))
        if expect["determinism"] == EXACT or not found:
            return found
        others = (mismatches(expect, play(case, seed)) for seed in range(1, LOTS_MAX + 1))
        return found if all(others) else []
