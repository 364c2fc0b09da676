"""Quiet: whether all programs have digested what was written to them."""

from __future__ import annotations

from time import monotonic

from testbed.attended.threads import CAN_LOOK
from testbed.attended.troupe import Troupe
from testbed.attended.wall_times import WallTimes

RARE_S = 0.01
"""The longest between two looks."""
LOOKS = 2
"""How many looks in a row must find all programs at rest."""


class Digesting:
    """Looks at the programs after something was written, until all of them are at rest."""

    def __init__(self, troupe: Troupe, times: WallTimes) -> None:
        self._troupe = troupe
        self._pace = times
        self.is_stirred = False
        """Whether something was written or asked since they were last at rest."""
        self.is_overrun = False
        """Whether they were still at work when they were last not waited for any longer."""
        self._since = 0.0
        self._looks = 0
        self.stirred_at = 0.0
        """When something was last written or asked, or a program was last seen at work."""
        self.overruns: dict[str, int] = {}
        """By program, how often it was still at work when it was not waited for any longer."""

    def stir(self) -> None:
        """Something was written to a program, or has arrived from one."""
        now = monotonic()
        if not self.is_stirred:
            self.is_stirred, self._since = True, now
        self._looks = 0
        self.stirred_at = now

    @property
    def next_look_s(self) -> float:
        """When to look again. The longer it takes, the rarer are the looks, for they cost time that
        the programs need."""
        waited_s = monotonic() - self._since
        return min(max(self._pace.digest_s, waited_s / 20), RARE_S)

    def is_reached(self, *, is_starting: bool) -> bool:
        """Whether all programs are at rest. One that starts is looked at all the time."""
        self.is_overrun = False
        if not (self.is_stirred or is_starting):
            return True
        now = monotonic()
        if not CAN_LOOK:
            # Nothing says that a program is at work, so it is never waited for longer than that.
            is_over = now - self.stirred_at >= self._pace.gap_s
            self.is_stirred = self.is_stirred and not is_over
            return is_over
        if self._troupe.at_work:
            self._looks = 0
            self.stirred_at = now
        else:
            self._looks += 1
        if self._looks < LOOKS and not self._is_too_long(now, is_starting):
            return False
        self.is_stirred = False
        self.is_overrun = self._looks < LOOKS
        return True

    def _is_too_long(self, now: float, is_starting: bool) -> bool:
        limit_s = self._pace.start_max_s if is_starting else self._pace.digest_max_s
        if now - self._since < limit_s:
            return False
        for name in self._troupe.at_work:
            self.overruns[name] = self.overruns.get(name, 0) + 1
        return True
