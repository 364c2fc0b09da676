"""stall: a program does not move for a while. Garbage collection, a busy node, a debugger."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import ClassVar

import attrs

from testbed.fault import Fault, Levers, Way


@attrs.frozen(kw_only=True)
class Stall(Fault):
    """No task of an actor moves for a while. All else goes on, its own requests too."""

    word: ClassVar[str] = "stall"
    effect: ClassVar[str] = "{target} stalled"
    recovery: ClassVar[str] = "goes on"
    length: ClassVar[str] = "by"
    lateness: ClassVar[str] = "by_ms"

    by_ms: int = 1000
    """For how long."""

    def ends_ms(self, now_ms: int) -> int:
        return now_ms + self.lasts_ms(self.by_ms, now_ms)

    def ways(self, levers: Levers) -> Iterator[Way]:
        """Each actor that runs and is not stalled yet."""
        for role in levers.actors():
            life = role.life
            if self.hits(role.name) and life and life.stalled_until_ms <= levers.now_ms:
                by_ms = self.lasts_ms(self.by_ms, levers.now_ms)
                strike = partial(levers.stall, role, by_ms)
                yield Way(role.name, strike, role.name, levers.memory(role))
