"""The trio driver: every task of every actor is a trio task, and exactly one of them can run.

trio gives tasks, cancellation and, later, sockets and real time; it decides nothing. Its batches
are shuffled and its clock breaks ties by `id()`, so there is never more than one task to shuffle
and never a deadline to break. This is the only file that imports trio.
"""

from __future__ import annotations

import sys
import time
import types
from collections.abc import Callable, Generator, Iterable
from typing import Any

import trio

from testbed.errors import HarnessBug
from testbed.turns.life import Seat
from testbed.turns.table import Table


class _Host:
    """Where one Seat, or the World's own task, is parked in trio."""

    __slots__ = ("is_parked", "task")

    def __init__(self) -> None:
        self.task = trio.lowlevel.current_task()
        self.is_parked = False


class _Play:
    """One Run on trio: a nursery of carriers, and the World's own task waiting for the end."""

    def __init__(self, table: Table) -> None:
        self.table = table
        self.nursery: trio.Nursery
        self.main = _Host()
        self.is_broken = False
        self.is_handed_on = False
        """Whether a task has been woken that has not moved yet."""

    async def run(self) -> None:
        token = trio.lowlevel.current_trio_token()
        self.table.intruder = lambda: f"trio task {trio.lowlevel.current_task().name!r}"
        self.table.wake_driver = lambda why: token.run_sync_soon(self._stop, why)
        # trio ends an async generator that was dropped half way in a task of its own, which would
        # move beside the holder of the turn; without its hooks that happens where it is dropped.
        hooks = sys.get_asyncgen_hooks()
        sys.set_asyncgen_hooks(None, None)
        try:
            async with trio.open_nursery() as nursery:
                self.nursery = nursery
                mover = self.table.advance()
                if mover is not None:
                    self.hand_to(mover)
                    self.main.is_parked = True
                    try:
                        await trio.lowlevel.wait_task_rescheduled(self._interrupted)
                    finally:
                        self.main.is_parked = False
        except BaseException as error:
            # A nursery raises groups: the World itself raises, bare, the first error there was.
            self.table.fail(error)
        finally:
            sys.set_asyncgen_hooks(*hooks)

    def _interrupted(self, raise_cancel: Callable[[], Any]) -> trio.lowlevel.Abort:
        """Somebody cancels the World from outside: it ends at its next turn, then passes it on."""
        if self.table.stop is None:
            try:
                raise_cancel()
            except BaseException as error:
                self.table.stop = error
        return self._stay()

    def _stay(self, _: Any = None) -> trio.lowlevel.Abort:
        """A parked task cannot be cancelled by trio: what ends its wait is the World's to decide,
        unless the World itself is broken."""
        return trio.lowlevel.Abort.SUCCEEDED if self.is_broken else trio.lowlevel.Abort.FAILED

    def _stop(self, why: BaseException) -> None:
        """Asked by the watchdog, as soon as trio's own loop gets round to it."""
        self.table.stop = self.table.stop or why
        if not self.is_handed_on and self.main.is_parked:
            self._let_go(HarnessBug(f"no task holds the turn: {why}"))

    def _let_go(self, error: BaseException) -> None:
        self.table.fail(error)
        self.is_broken = True
        self.nursery.cancel_scope.cancel()

    def hand_to(self, mover: Seat | None) -> None:
        """Let this task move next; None: all is over, wake the World's own task."""
        if mover is None:
            self._wake(self.main)
        elif mover.host is None:
            self.is_handed_on = True
            self.nursery.start_soon(self._carry, mover, name=mover.path)
        else:
            self._wake(mover.host)

    def _wake(self, host: _Host) -> None:
        """The one call that wakes a task. Waking one that is parked elsewhere, or not at all,
        would destroy the whole `trio.run`, so that is looked at first."""
        if not host.is_parked:
            raise HarnessBug(f"{host.task.name} was to be woken, but it is not parked in a turn")
        host.is_parked = False
        self.is_handed_on = True
        trio.lowlevel.reschedule(host.task)

    async def _carry(self, seat: Seat) -> None:
        try:
            await self._carried(seat)
        except BaseException as error:
            # Only a bug of ours gets here: no turn can be handed on any more.
            self._let_go(error)

    @types.coroutine
    def _carried(self, seat: Seat) -> Generator[Any, Any, None]:
        host = seat.host = _Host()
        while True:
            self.is_handed_on = False
            mover = self.table.move(seat)
            if mover is seat:
                yield from _expel(seat)
                continue
            host.is_parked = not seat.has_ended
            self.hand_to(mover)
            if seat.has_ended:
                return
            try:
                yield from trio.lowlevel.wait_task_rescheduled(self._stay)
            finally:
                host.is_parked = False


def _expel(seat: Seat) -> Generator[Any, Any, None]:
    """It awaited trio itself: let trio cancel that wait, in its own way, and give back the rest."""
    with trio.CancelScope() as scope:
        scope.cancel()
        try:
            seat.value = yield seat.trap
        except BaseException as error:
            seat.error = error


async def play_async(table: Table) -> None:
    """Play one Run inside a `trio.run` that is already there."""
    await _Play(table).run()


def play_all(tables: Iterable[Table]) -> None:
    """Play one Run after another in one `trio.run`; whoever yields them looks at them between."""

    async def session() -> None:
        alive = trio.lowlevel.current_statistics().tasks_living
        for table in tables:
            await _Play(table).run()
            left = trio.lowlevel.current_statistics().tasks_living - alive
            if left:
                raise HarnessBug(f"a Run has ended and left {left} trio task(s) behind")

    trio.run(session)


def checkpoints_per_s(tasks: int, seconds: float) -> float:
    """How many checkpoints plain trio does with so many tasks: the yardstick of `bench turns`."""
    count = 0

    async def spin(until: float) -> None:
        nonlocal count
        while time.perf_counter() < until:
            for _ in range(1000):
                await trio.lowlevel.checkpoint()
            count += 1000

    async def session() -> None:
        until = time.perf_counter() + seconds
        async with trio.open_nursery() as nursery:
            for _ in range(tasks):
                nursery.start_soon(spin, until)

    began = time.perf_counter()
    trio.run(session)
    return count / (time.perf_counter() - began)
