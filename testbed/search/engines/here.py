"""here: plays in this process, one Run after another."""

from __future__ import annotations

from collections.abc import Generator, Sequence

from testbed.search.planned_run import Data, Outcome, PlannedRun
from testbed.search.player import Player


class Here:
    """The plainest Engine."""

    def __init__(self, player: Player) -> None:
        self.player = player
        self.reports: list[str] = []

    def learn(self, learned: Data) -> None:
        """Give the Samplers what they draw from in the next Runs."""
        self.player.learn(learned)

    def play(self, batch: Sequence[PlannedRun]) -> Generator[Outcome, None, None]:
        """Play each Run when its Outcome is asked for."""
        yield from map(self.player.play, batch)

    def close(self) -> None:
        """Release nothing: it holds nothing."""
