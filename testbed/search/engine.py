"""Engine: what plays the Runs of a search: in this process, in others, one day on other machines.

A search hands it one batch of PlannedRuns at a time, and takes the Outcomes in the same order. What
a Run shows depends only on its PlannedRun and on what was learned before its round, so every Engine
gives the same Outcomes.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from typing import Protocol

from testbed.search.planned_run import Data, Outcome, PlannedRun


class Engine(Protocol):
    """Plays PlannedRuns."""

    reports: list[str]
    """What went wrong with the Engine itself, such as a worker that died, and what it did about it.
    Only a Run that a report calls Undecided was affected."""

    def learn(self, learned: Data) -> None:
        """Called between rounds with what all Runs so far have shown, for the next Runs to use."""

    def play(self, batch: Sequence[PlannedRun]) -> Generator[Outcome, None, None]:
        """Play these Runs; yield one Outcome for each, in the order of the batch.

        To close the generator early gives up the Runs that have not ended.
        """

    def close(self) -> None:
        """Called once, however the search ends: release everything."""
