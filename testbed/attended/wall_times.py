"""Wall times: how long real programs are waited for. Pacer: virtual time, as it passes."""

from __future__ import annotations

from time import monotonic

import attrs


@attrs.frozen
class WallTimes:
    """How long real programs are waited for, in seconds of the wall."""

    quiet_s: float = 2.0
    """A Run at rest is over when the programs have been silent for that long."""
    silence_s: float = 10.0
    """What is held until something that does not come is released after that long a silence."""
    limit_s: float = 120.0
    """No Run takes longer; it ends Undecided."""
    speed: float = 1.0
    """How many seconds of virtual time pass in a second. A program's own timers do not know of it,
    so only programs without timers may have another speed."""
    start_s: float = 0.25
    """A program has started when it has asked something and then been quiet for that long."""
    start_max_s: float = 30.0
    """By then every program must have asked something. One that has, and is never quiet, is no
    longer waited for."""
    digest_s: float = 0.0002
    """Between two looks at whether the programs are at rest."""
    digest_max_s: float = 5.0
    """If one is still at work after that long, the World goes on, and the report counts it."""
    gap_s: float = 0.02
    """Where the threads of a program cannot be seen: it is at rest after that long a silence."""


class Pacer:
    """Virtual time of one Run: it passes while the World waits for programs, and never else.

    So what a program takes to digest a line, and how slow the machine is, costs no virtual time.
    """

    def __init__(self, speed: float) -> None:
        self._speed = speed
        self._passed_s = 0.0
        self._waits_since: float | None = None

    def wait(self) -> None:
        """From now on the World waits, and time passes."""
        if self._waits_since is None:
            self._waits_since = monotonic()

    def go_on(self) -> None:
        """The World goes on, and time stands still."""
        if self._waits_since is not None:
            self._passed_s += (monotonic() - self._waits_since) * self._speed
            self._waits_since = None

    @property
    def now_ms(self) -> int:
        """Virtual time."""
        return int(self._passed_s * 1000)

    def until_s(self, due_ms: int) -> float:
        """How long it takes until that time."""
        return (due_ms / 1000 - self._passed_s) / self._speed

    def settle(self, now_ms: int, due_ms: int | None) -> None:
        """The World goes on from that time, with what is due then. How late it does so, since the
        machine has other work, is not counted."""
        if due_ms is not None:
            self._passed_s = min(self._passed_s, due_ms / 1000)
        self._passed_s = max(self._passed_s, now_ms / 1000)
