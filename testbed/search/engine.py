"""Engine: what plays the Jobs of a search; here, in other processes, one day on other machines.

A search hands it a batch at a time, and takes the Outcomes in the order of the Jobs. Since a Run is
a function of its Job and of what was learnt before its round, every Engine gives the same ones.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from typing import Protocol

from testbed.search.planned_run import Data, Outcome, PlannedRun


class Engine(Protocol):
    """Plays Jobs."""

    reports: list[str]
    """What went wrong with the Engine itself, and what it did about it; the Runs are none the
    worse for it."""

    def learn(self, learned: Data) -> None:
        """Called between rounds: what all Runs so far have shown, for those to come."""

    def play(self, jobs: Sequence[PlannedRun]) -> Generator[Outcome, None, None]:
        """Play them; an Outcome for each, in their order, whichever ends first. Closing the
        iterator early gives up those that have not begun."""

    def close(self) -> None:
        """Called once, however the search ends: let go of everything."""
