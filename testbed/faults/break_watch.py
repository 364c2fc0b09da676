"""break_watch: a watch is closed. Servers close them all the time (API-46)."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import ClassVar

import attrs

from testbed.fault import Fault, Levers, Way


@attrs.frozen(kw_only=True)
class BreakWatch(Fault):
    """A watch ends. Its reader is told, and resumes from the last revision it saw."""

    word: ClassVar[str] = "break_watch"
    effect: ClassVar[str] = "{whose} watch of {what} was broken"

    def ways(self, levers: Levers) -> Iterator[Way]:
        """Each open watch, by path."""
        for stream in levers.streams():
            name = stream.life.role.name
            if self.hits(name):
                strike = partial(levers.break_watch, stream)
                yield Way(stream.title, strike, name, stream.may_end())
