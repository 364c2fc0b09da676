"""Measure: one thing that alternatives are compared by."""

from __future__ import annotations

from typing import ClassVar

from testbed.search.comparing.run_history import RunHistory
from testbed.search.comparing.sample import Figure, Sample


class Measure:
    """Reads the history of one Run, and says what it came to there."""

    name: ClassVar[str] = ""
    """What `--measure` calls it: `lost_slots`."""
    says: ClassVar[str] = ""
    """What it counts, in one sentence."""
    figures: ClassVar[tuple[Figure, ...]] = ()
    """The numbers that are made of its Samples."""
    place: ClassVar[int] = 0
    """Where it stands among the others; of equal ones by name."""

    def of(self, history: RunHistory) -> Sample:
        """Called once for each Run that has ended: what this measure found in it."""
        raise NotImplementedError
