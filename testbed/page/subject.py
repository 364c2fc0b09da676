"""Subject: what a page tells of: one Run, and all that was worked out of it."""

from __future__ import annotations

from collections.abc import Sequence

import attrs

from testbed.maps.state_map import StateMap
from testbed.races.necessity import Flipped
from testbed.races.race import Deviation, Race
from testbed.story.explain import told_of
from testbed.story.growth import FailureRate
from testbed.turns.trace import Trace
from testbed.turns.verdict import Verdict, Violation
from testbed.world.scenario import Scenario


@attrs.frozen
class CalmRun:
    """The calm run of the same World, in which the same faults may strike at the same points."""

    name: str
    trace: Trace
    verdict: Verdict


@attrs.frozen
class PageSubject:
    """A Run that was played and kept, with what a page says of it."""

    recipe: Scenario
    race: Race
    """The Run as a race; without a line if it is the calm run."""
    trace: Trace
    verdict: Verdict
    again: str
    """The command to paste that plays it again."""
    issue: str = ""
    """The story as Markdown."""
    file: str = ""
    """The race file that it was played from; empty if there is none."""
    text: str = ""
    """What stands in that file."""
    calm: CalmRun | None = None
    """None if the Run is the calm run itself, or if there is none to compare it with."""
    tried: Sequence[Flipped[Deviation]] = ()
    """Of each line of the race whether the breach needs it; empty if that was not tried."""
    rates: Sequence[FailureRate] = ()
    """How the chance to fail grows along the Run; empty if it was not asked for."""
    map: StateMap | None = None
    """The complete map of the World; None if it is not small, or was not mapped."""

    @property
    def violation(self) -> Violation | None:
        """The breach that is told of: of the claim that the race is about, else the first."""
        return told_of(self.verdict, self.race.breaks)

    @property
    def claim(self) -> str:
        """The claim that is told of; empty if none was breached."""
        return self.violation.invariant if self.violation is not None else ""
