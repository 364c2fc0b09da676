"""How commands that play many Runs show, after two seconds, how far they have come.

On a terminal one line is written over and over, elsewhere a line now and then; in the first two
seconds nothing, as most of what is asked for is done by then. It is a few figures in a line: no
library for progress would say them better.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TextIO

SILENT_S = 2.0
REDRAWN_EVERY_S = 0.2
SAID_EVERY_S = 5.0
COLUMNS = 80
"""Of a terminal that does not say how many it has."""
ECHO = len("^C^C^C")
"""So much room is left behind the line for what a terminal shows of Ctrl-C."""


class Progress:
    """A line on standard error; on a terminal it is gone in the end."""

    def __init__(
        self, now: Callable[[], float] = time.monotonic, stream: TextIO | None = None
    ) -> None:
        self._now = now
        self._stream = sys.stderr if stream is None else stream
        self._redraws = self._stream.isatty()
        self._next_s = now() + SILENT_S
        self._is_shown = False

    def say(self, line: Callable[[], str]) -> None:
        """This is how far it is; asked for only if it is to be shown."""
        now_s = self._now()
        if now_s < self._next_s:
            return
        self._next_s = now_s + (REDRAWN_EVERY_S if self._redraws else SAID_EVERY_S)
        if self._redraws:
            self._redraw(line())
        else:
            self._write(line() + "\n")

    def clear(self) -> None:
        """It is over, or what comes next has a line of its own: leave this one as it was found."""
        if self._is_shown:
            self._write("\r" + " " * (self._columns - 1) + "\r")
            self._is_shown = False

    def _redraw(self, text: str) -> None:
        # Set first: who interrupts may do so while it is written.
        self._is_shown = True
        width = max(self._columns - 1 - ECHO, 1)
        self._write("\r" + text[:width].ljust(width))

    @property
    def _columns(self) -> int:
        """A line that is longer would go on in the next row, which nothing takes back."""
        try:
            return os.get_terminal_size(self._stream.fileno()).columns or COLUMNS
        except OSError:
            return COLUMNS

    def _write(self, text: str) -> None:
        self._stream.write(text)
        self._stream.flush()


@contextmanager
def counting(what: str) -> Iterator[Callable[[int, int], None]]:
    """While the body lasts: tells that so many of so many are done."""
    progress = Progress()
    try:
        yield lambda done, total: progress.say(lambda: f"{what}: {done:,} of {total:,}")
    finally:
        progress.clear()
