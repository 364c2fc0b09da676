"""How a search shows that it goes on, and knows that its time is up.

On a terminal one line is written over and over, elsewhere a line now and then; in the first two
seconds nothing, as most searches have ended by then. It is six figures in a line: no library for
progress would say them better, and none is imported sooner than this file.
"""

from __future__ import annotations

import sys
import time
from typing import TextIO

from testbed.counted import counted
from testbed.search import Search

SILENT_S = 2.0
REDRAWN_EVERY_S = 0.2
SAID_EVERY_S = 5.0


class Clock:
    """The wall: when a search began, and when it is to end."""

    def __init__(self, seconds_max: float | None = None) -> None:
        self._began_s = time.monotonic()
        self._seconds_max = seconds_max

    @property
    def seconds(self) -> float:
        """Since it began."""
        return time.monotonic() - self._began_s

    def is_over(self) -> bool:
        """Whether the time it was given is up."""
        return self._seconds_max is not None and self.seconds >= self._seconds_max


class Progress:
    """Says on standard error how far a search is."""

    def __init__(self, clock: Clock, stream: TextIO | None = None) -> None:
        self._clock = clock
        self._stream = sys.stderr if stream is None else stream
        self._redraws = self._stream.isatty()
        self._said_s = SILENT_S - (REDRAWN_EVERY_S if self._redraws else SAID_EVERY_S)
        self._width = 0
        self._search: Search | None = None

    def watch(self, search: Search) -> None:
        """This is what it tells of."""
        self._search = search

    def ran(self) -> None:
        """A Run was taken."""
        self._say("")

    def shrinks(self, runs: int, deviations: int) -> None:
        """A Run is being shrunk."""
        self._say(f" · shrinking: {counted(deviations, 'deviation')} after {counted(runs, 'run')}")

    def _say(self, more: str) -> None:
        now_s = self._clock.seconds
        every_s = REDRAWN_EVERY_S if self._redraws else SAID_EVERY_S
        if self._search is None or now_s < SILENT_S or now_s - self._said_s < every_s:
            return
        self._said_s = now_s
        line = told(self._search, now_s) + more
        if self._redraws:
            self._stream.write("\r" + line.ljust(self._width)[:200])
            self._width = len(line)
        else:
            self._stream.write(line + "\n")
        self._stream.flush()

    def clear(self) -> None:
        """What comes next has a line of its own."""
        if self._redraws and self._width:
            self._stream.write("\r" + " " * min(self._width, 200) + "\r")
            self._stream.flush()
            self._width = 0


def told(search: Search, seconds: float) -> str:
    """The line."""
    breached = search.verdicts.get("violated", 0)
    parts = [counted(search.runs, "run"), f"{int(search.runs / seconds):,}/s"]
    if search.level:
        parts.append(search.level)
    parts.append(f"{counted(search.coverage.ways, 'way')} to meet")
    parts.append(f"{breached:,} violated, {len(search.found)} found")
    parts.append(f"next new: {search.coverage.chance_of_more}")
    return " · ".join(parts)
