"""Steady: a Chooser for Runs with real programs, under which a seed repeats.

How often a program asks while it starts, and when it writes its Events, is decided by the program
and its machine, and differs from Run to Run. A Chooser that draws would draw at each of these
turns, and so come to other draws for all that follows. So such turns come first and are not drawn
for: the reads of a program that starts, and all that is said of Events and Leases.
"""

from __future__ import annotations

from testbed.attended.calls import BACKGROUND
from testbed.chooser import Chooser, Cut, Plan, RunInfo
from testbed.store.change import plural_of
from testbed.store.store_endpoint import READS
from testbed.turns.option import ANSWER, DELIVER, FEED, Choice, Option
from testbed.turns.pending import Alternatives, Options
from testbed.turns.trace import Step, Trace
from testbed.turns.verdict import Verdict
from testbed.world.attendance import Attendance


class Steady(Chooser):
    """Lets another Chooser choose, but for what no seed could repeat."""

    def __init__(self, chooser: Chooser, attendance: Attendance) -> None:
        self.chooser = chooser
        self.attendance = attendance
        self.minds_order = chooser.minds_order
        self.goes_on = chooser.goes_on

    def begin(self, run: RunInfo) -> Plan | None:
        return self.chooser.begin(run)

    def choose(self, options: Options | Alternatives) -> Choice | Cut:
        if isinstance(options, Options):
            for index in range(options.ready):
                if self._comes_first(options[index]):
                    return index
        return self.chooser.choose(options)

    def _comes_first(self, option: Option) -> bool:
        if option.actor not in self.attendance.names:
            return False
        if plural_of(option.key) in BACKGROUND:
            return True
        is_read = option.verb in READS or option.kind in (FEED, DELIVER, ANSWER)
        return is_read and option.actor in self.attendance.starting

    def strike(self, options: Options) -> int | None:
        return self.chooser.strike(options)

    def acts_ms(self, now_ms: int) -> int | None:
        return self.chooser.acts_ms(now_ms)

    def ended(self, step: Step) -> None:
        self.chooser.ended(step)

    def end(self, trace: Trace, verdict: Verdict) -> None:
        self.chooser.end(trace, verdict)

    @property
    def note(self) -> str:
        return self.chooser.note
