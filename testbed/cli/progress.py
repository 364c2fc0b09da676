"""How commands that play many Runs show, after two seconds, how far they have come.

On a terminal one line is written over and over, elsewhere a line now and then; in the first two
seconds nothing, as most of what is asked for is done by then. It is a few figures in a line: no
library for progress would say them better.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TextIO

SILENT_S = 2.0
REDRAWN_EVERY_S = 0.2
SAID_EVERY_S = 5.0
WIDTH_MAX = 200


class Progress:
    """A line on standard error; on a terminal it is gone in the end."""

    def __init__(
        self, now: Callable[[], float] = time.monotonic, stream: TextIO | None = None
    ) -> None:
        self._now = now
        self._stream = sys.stderr if stream is None else stream
        self._redraws = self._stream.isatty()
        self._next_s = now() + SILENT_S
        self._width = 0

    def say(self, line: Callable[[], str]) -> None:
        """This is how far it is; asked for only if it is to be shown."""
        now_s = self._now()
        if now_s < self._next_s:
            return
        self._next_s = now_s + (REDRAWN_EVERY_S if self._redraws else SAID_EVERY_S)
        if self._redraws:
            self._redraw(line()[:WIDTH_MAX])
        else:
            self._write(line() + "\n")

    def clear(self) -> None:
        """It is over, or what comes next has a line of its own: leave this one as it was found."""
        if self._width:
            self._redraw("")
            self._write("\r")

    def _redraw(self, text: str) -> None:
        self._write("\r" + text.ljust(self._width))
        self._width = len(text)

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
