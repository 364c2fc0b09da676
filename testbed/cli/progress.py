"""How commands that play many Runs show, after two seconds, how far they have come."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import click

SILENT_S = 2
"""Nothing is shown before: most of what is asked for is done by then."""
APART_S = 0.2


class Progress:
    """A line on a terminal's standard error that counts, and is gone in the end."""

    def __init__(self, what: str, now: Callable[[], float] = time.monotonic) -> None:
        self._what = what
        self._now = now
        self._next_s = now() + SILENT_S
        self._width = 0

    def __call__(self, done: int, total: int) -> None:
        """So many of so many are done."""
        now_s = self._now()
        if now_s < self._next_s or not sys.stderr.isatty():
            return
        self._next_s = now_s + APART_S
        self._show(f"{self._what}: {done:,} of {total:,}")

    def clear(self) -> None:
        """It is over, whichever way: leave the line as it was found."""
        if self._width:
            self._show("")

    def _show(self, text: str) -> None:
        back = "" if text else "\r"
        click.echo(f"\r{text.ljust(self._width)}{back}", nl=False, err=True)
        self._width = len(text)


@contextmanager
def shown(what: str) -> Iterator[Progress]:
    """Progress while the body lasts."""
    progress = Progress(what)
    try:
        yield progress
    finally:
        progress.clear()
