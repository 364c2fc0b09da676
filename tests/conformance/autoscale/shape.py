"""Autoscale: a kind of recorded case, what a cluster autoscaler does in passes."""

from __future__ import annotations

import attrs

from conformance.autoscale.matching import mismatches
from conformance.autoscale.playing import play
from conformance.shape import Line


@attrs.frozen
class Autoscale:
    """A case that our autoscaler plays: one pass, or hours."""

    name: str = "autoscale"
    why_not: str = "not all of them agree yet"
    tally: str = "conformance"

    def fits(self, line: Line) -> bool:
        """Whether passes are told."""
        case = line.get("case")
        return isinstance(case, dict) and "groups" in case and "passes" in case

    def differences(self, line: Line) -> list[str]:
        """Each leaf that binds and differs, and the first instant of the log that does."""
        return mismatches(line["expect"], play(line["case"]))
