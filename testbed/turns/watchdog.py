"""Watchdog: ends a turn that does not end by itself, because its actor never yields; and Ctrl-C.

The World reads no clock, so this is a timer of the operating system. It looks at the number of the
turn, and at how often the World has waited for real programs. When neither has moved while this
thread has spent `SECONDS` of processor time, which does not depend on what else the machine does,
or for `HANGS_S` of wall time, in which a turn does nothing but wait:

1. It asks the driver: if trio's loop still runs, the turn can end in the usual way.
2. If that has no effect, it raises an exception in the frame that spins. It does not raise in a
   frame of trio's own, where an exception would destroy the whole `trio.run`.
3. If the actor catches that and spins on, it raises the exception again inside the `except` clause,
   where nothing catches it.

Ctrl-C ends the Run at its next turn; if there is none within `PATIENCE_S`, it takes the same steps.
The watchdog needs the main thread. It leaves a SIGALRM or SIGINT alone for which other code has set
a handler. It does replace trio's handler, which would raise KeyboardInterrupt anywhere in a World.
"""

from __future__ import annotations

import inspect
import signal
import sys
import threading
import time
from types import FrameType
from typing import Any

from testbed.errors import Overrun
from testbed.turns.table import Table

SECONDS = 10.0
HANGS_S = 120.0
TICK_S = 0.5
PATIENCE_S = 0.3
"""How long the turn may still take to end by itself after the driver was asked."""
OURS = ("testbed", "trio")


class Watchdog:
    """Beside the Runs of a session, one after another: `with Watchdog() as watchdog`. To set its
    timer and its handlers costs as much as some turns, so that is done once for all Runs."""

    def __init__(self, seconds: float | None = None) -> None:
        self.table: Table | None = None
        """Whose Run it is now; None between two Runs."""
        self.seconds = SECONDS if seconds is None else seconds
        self._tick_s = min(TICK_S, self.seconds / 2)
        self._turn = (-1, 0)
        self._waited_s = 0.0
        """The wall time of the turn under way, as far as it was looked at."""
        self._spent_s = 0.0
        """The processor time of this thread when that turn was first looked at."""
        self._asked = False
        self._raised: BaseException | None = None
        """What it has raised in a frame of the turn under way."""
        self._tracer: Any = None
        """The trace function of this thread before step 3; restored at the end of the Run."""
        self._is_tracing = False
        self._alarm: Any = None
        self._interrupt: Any = None

    def __enter__(self) -> Watchdog:
        if threading.current_thread() is not threading.main_thread():
            return self
        taken = signal.getsignal(signal.SIGALRM)
        if taken in (signal.SIG_DFL, signal.SIG_IGN, None) or _watches_nothing(taken):
            self._alarm = signal.signal(signal.SIGALRM, self._tick)
            signal.setitimer(signal.ITIMER_REAL, self._tick_s, self._tick_s)
        taken = signal.getsignal(signal.SIGINT)
        is_free = taken is signal.default_int_handler or _watches_nothing(taken)
        if is_free or _package(taken) == "trio":
            self._interrupt = signal.signal(signal.SIGINT, self._interrupted)
        return self

    def watch(self, table: Table | None) -> None:
        """A Run of this Table begins; None: it is over."""
        self.table = table
        self._turn = (-1, 0)
        self._begin_turn()
        self._asked, self._raised = False, None
        if self._is_tracing:
            self._is_tracing = False
            sys.settrace(self._tracer)

    def __exit__(self, *_: object) -> None:
        self.watch(None)
        if self._alarm is not None:
            signal.setitimer(signal.ITIMER_REAL, 0)
            signal.signal(signal.SIGALRM, self._alarm)
            if _watches_nothing(self._alarm):
                self._alarm.__self__.rewind()
            self._alarm = None
        if self._interrupt is not None:
            signal.signal(signal.SIGINT, self._interrupt)
            self._interrupt = None

    def rewind(self) -> None:
        """Go on, after another has watched a Run between two of this session's."""
        signal.setitimer(signal.ITIMER_REAL, self._tick_s, self._tick_s)

    def _interrupted(self, number: int, frame: FrameType | None) -> None:
        table = self.table
        if table is None:  # no actor's code runs, so what would have been done without us is safe
            self._interrupt(number, frame)
            return
        if isinstance(table.stop, KeyboardInterrupt):
            self._raise(table, frame, table.stop)
            return
        table.stop = KeyboardInterrupt()
        self._turn, self._waited_s = (table.step, table.waits), HANGS_S
        self._ask(table, table.stop)

    def _tick(self, _: int, frame: FrameType | None) -> None:
        table = self.table
        if table is None:
            return
        if self._turn != (turn := (table.step, table.waits)):
            self._turn = turn
            self._asked, self._raised = False, None
            if table.stop is None:
                self._begin_turn()
            return
        self._waited_s += self._tick_s
        if self._waited_s < HANGS_S and time.thread_time() - self._spent_s < self.seconds:
            return
        why = table.stop or Overrun(_reason(table))
        if not self._asked:
            self._ask(table, why)
        else:
            self._raise(table, frame, why)

    def _begin_turn(self) -> None:
        self._waited_s, self._spent_s = 0.0, time.thread_time()

    def _ask(self, table: Table, why: BaseException) -> None:
        self._asked = True
        table.ask_to_stop(why)
        if self._alarm is not None:
            signal.setitimer(signal.ITIMER_REAL, PATIENCE_S, self._tick_s)

    def _raise(self, table: Table, frame: FrameType | None, error: BaseException) -> None:
        """Raise it in the frame that spins. Not in a frame of trio's, which would not survive it,
        and not during the teardown, which the World must finish."""
        if not _may_raise_in(frame):
            table.ask_to_stop(error)
        elif table.running is not None or not table.is_over:
            if self._raised is not None:
                self._chase(frame)
            self._raised = error
            raise error

    def _chase(self, frame: FrameType | None) -> None:
        """Raise the error once more in the `except` clause that has caught it.

        A trace function is called for each line of a traced frame, and may raise there. So every
        frame of the actor's on the stack gets one, and it raises as soon as the error is handled.
        """

        def trace(frame: FrameType, event: str, _: object) -> Any:
            if _package(frame) in OURS or not _may_raise_in(frame):
                return None
            handled = sys.exception()
            if handled is not None and handled is self._raised:
                raise handled
            return trace

        if not self._is_tracing:
            self._is_tracing, self._tracer = True, sys.gettrace()
        sys.settrace(trace)
        while frame is not None:
            if _package(frame) not in OURS:
                frame.f_trace = trace
            frame = frame.f_back


def _watches_nothing(handler: Any) -> bool:
    """Whether it is the handler of a watchdog that is between two Runs. What plays another Run
    there, such as the calm one, needs a watchdog of its own."""
    theirs = getattr(handler, "__self__", None)
    return isinstance(theirs, Watchdog) and theirs.table is None


def _reason(table: Table) -> str:
    seat = table.running
    who = seat.life.role.name if seat is not None else "the World"
    return f"{who} did not yield after turn {table.step}"


def _may_raise_in(frame: FrameType | None) -> bool:
    """Whether that frame is neither trio's own nor a callback that trio itself has called."""
    while frame is not None and not frame.f_code.co_flags & inspect.CO_COROUTINE:
        if _package(frame) in OURS:
            break
        frame = frame.f_back
    return frame is None or _package(frame) != "trio"


def _package(where: Any) -> str:
    """The package that the code of that frame or function belongs to."""
    if isinstance(where, FrameType):
        name = where.f_globals.get("__name__", "")
    else:
        name = getattr(where, "__module__", "")
    return str(name).partition(".")[0]
