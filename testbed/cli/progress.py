"""Progress: how commands that play many Runs show how far they are.

On a terminal one line is overwritten again and again; elsewhere a new line is written every few
seconds. The first two seconds show nothing, since most commands are done by then. Where
`TESTBED_PROGRESS=off` nothing is shown: what a command prints does not depend on how long it takes.
It is one line with a few figures, so it takes no library.
"""

from __future__ import annotations

import math
import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from typing import TextIO, TypeVar

from testbed.child import Jobs
from testbed.search.sharing import shared_out

Result = TypeVar("Result")

SILENT_S = 2.0
REDRAWN_EVERY_S = 0.2
SAID_EVERY_S = 5.0
COLUMNS = 80
"""The width of a terminal that does not tell its own."""
ECHO = len("^C^C^C")
"""The room left behind the line: a terminal shows Ctrl-C there as ^C."""


class Clock:
    """Real time: when something began, and when it is to end."""

    def __init__(self, seconds_max: float | None = None) -> None:
        self._began_s = time.monotonic()
        self._seconds_max = seconds_max

    @property
    def seconds(self) -> float:
        """The seconds since it began."""
        return time.monotonic() - self._began_s

    def is_over(self) -> bool:
        """Whether its time is up."""
        return self._seconds_max is not None and self.seconds >= self._seconds_max


class Progress:
    """A line of progress on standard error; a terminal is left clean in the end."""

    def __init__(
        self, now: Callable[[], float] = time.monotonic, stream: TextIO | None = None
    ) -> None:
        self._now = now
        self._stream = sys.stderr if stream is None else stream
        self._redraws = self._stream.isatty()
        is_off = os.environ.get("TESTBED_PROGRESS") == "off"
        self._next_s = math.inf if is_off else now() + SILENT_S
        self._is_shown = False

    def say(self, line: Callable[[], str]) -> None:
        """Show a line, if it is time to; `line` is called only then."""
        now_s = self._now()
        if now_s < self._next_s:
            return
        self._next_s = now_s + (REDRAWN_EVERY_S if self._redraws else SAID_EVERY_S)
        if self._redraws:
            self._redraw(line())
        else:
            self._write(line() + "\n")

    def clear(self) -> None:
        """Remove the line from the terminal: the work is over, or other output comes next."""
        if self._is_shown:
            self._write("\r" + " " * (self._columns - 1) + "\r")
            self._is_shown = False

    def _redraw(self, text: str) -> None:
        # Set before it is written: Ctrl-C may come in between, and the line is to be removed then.
        self._is_shown = True
        width = max(self._columns - 1 - ECHO, 1)
        self._write("\r" + text[:width].ljust(width))

    @property
    def _columns(self) -> int:
        """The width of the terminal: a longer line would wrap, and could not be overwritten."""
        try:
            return os.get_terminal_size(self._stream.fileno()).columns or COLUMNS
        except OSError:
            return COLUMNS

    def _write(self, text: str) -> None:
        self._stream.write(text)
        self._stream.flush()


@contextmanager
def counting(what: str) -> Iterator[Callable[[int, int], None]]:
    """Show progress during the body. It calls the function with how many of how many are done."""
    progress = Progress()
    try:
        yield lambda done, total: progress.say(lambda: f"{what}: {done:,} of {total:,}")
    finally:
        progress.clear()


def counted_out(
    what: str, work: Callable[[int], Result], count: int, jobs: Jobs
) -> Iterator[Result]:
    """Yield `work(0)`, `work(1)`, … up to `count` of them, done in several processes, and count
    them on a line of progress."""
    with counting(what) as progress, closing(shared_out(work, count, jobs)) as shared:
        for number, result in enumerate(shared, 1):
            progress(number, count)
            yield result
