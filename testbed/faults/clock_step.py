"""clock_step: an actor's clock jumps. Time daemons step clocks, and leases are read by clocks."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import ClassVar

import attrs

from testbed.fault import Fault, Levers, Way


@attrs.frozen(kw_only=True)
class ClockStep(Fault):
    """One actor's clock is shifted, forward or back. Its timers run on."""

    word: ClassVar[str] = "clock_step"
    effect: ClassVar[str] = "the clock of {target} jumped"
    allows_negative: ClassVar[bool] = True

    by_ms: int = 10_000
    """By how much; back if it is negative."""

    def ways(self, levers: Levers) -> Iterator[Way]:
        """Each actor that runs."""
        for role in levers.actors():
            if self.hits(role.name):
                strike = partial(levers.step_clock, role, self.by_ms)
                yield Way(role.name, strike, role.name, levers.memory(role))
