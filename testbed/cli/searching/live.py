"""The line of progress of a search."""

from __future__ import annotations

from typing import TextIO

from testbed.cli.progress import Clock, Progress
from testbed.search.search import Search
from testbed.words import counted


class SearchProgress(Progress):
    """Shows how far a search is."""

    def __init__(self, clock: Clock, stream: TextIO | None = None) -> None:
        super().__init__(lambda: clock.seconds, stream)
        self._clock = clock
        self._search: Search | None = None

    def watch(self, search: Search) -> None:
        """Show this search from now on."""
        self._search = search

    def ran(self) -> None:
        """A Run was played."""
        self._show("")

    def shrinks(self, runs: int, deviations: int) -> None:
        """A Run is being shrunk."""
        left = f"{counted(deviations, 'deviation')} after {counted(runs, 'run')}"
        self._show(f"shrinking: {left} · ")

    def _show(self, first: str) -> None:
        # A terminal may be too narrow for all of it, so what moves comes first.
        if (search := self._search) is not None:
            self.say(lambda: first + progress_line(search, self._clock.seconds))


def progress_line(search: Search, seconds: float) -> str:
    """The line: Runs, speed, what is complete, what was found, and how likely more is."""
    breached = search.verdicts.get("violated", 0)
    parts = [counted(search.runs, "run"), f"{int(search.runs / seconds):,}/s"]
    if search.level:
        parts.append(search.level)
    parts.append(f"{counted(search.coverage.ways, 'way')} to meet")
    parts.append(f"{breached:,} violated, {len(search.found)} found")
    parts.append(f"next new: {search.coverage.chance_of_more}")
    return " · ".join(parts)
