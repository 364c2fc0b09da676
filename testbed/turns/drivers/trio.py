"""The trio driver: every life of every actor is a trio task, and exactly one of them can run.

trio gives tasks and cancellation; it decides nothing. It shuffles the tasks that can run, and
breaks ties of its clock by `id()`. So it never has more than one task to shuffle, and never a
deadline. This is the only file that imports trio.
"""

from __future__ import annotations

import sys
import time
import types
from collections.abc import Callable, Generator, Iterable
from typing import Any

import trio

from testbed.errors import HarnessBug
from testbed.turns.head import Driver, Waiter
from testbed.turns.life import Seat
from testbed.turns.table import Table


class _Host:
    """The trio task that carries the Seats of one life, or the World's own task."""

    __slots__ = ("is_parked", "mover", "task")

    def __init__(self) -> None:
        self.task = trio.lowlevel.current_task()
        self.is_parked = False
        self.mover: Seat | None = None
        """The Seat that is to move when it is woken; None: it is to end."""


class _TrioRun(Driver):
    """One Run on trio: a nursery of carriers, and the World's own task, which waits for the end."""

    def __init__(self, table: Table) -> None:
        self.table = table
        self.nursery: trio.Nursery
        """Has a carrier task for every life; opened by `run`."""
        self.main = _Host()
        self.parked: dict[_Host, None] = {}
        """The carriers that wait for a turn of their life, the longest first."""
        self.token = trio.lowlevel.current_trio_token()
        self.is_broken = False
        """Whether a bug of ours has ended the Run; then trio may cancel parked tasks."""
        self.is_handed_on = False
        """Whether a task has been woken that has not moved yet."""

    def ask_to_stop(self, why: BaseException) -> None:
        self.token.run_sync_soon(self._stop, why)

    def running(self) -> str:
        return f"trio task {trio.lowlevel.current_task().name!r}"

    async def run(self) -> None:
        """Play the Run to its end."""
        self.table.driver = self
        # If an async generator is dropped half way, trio ends it in a task of its own, which would
        # move beside the holder of the turn. Without trio's hooks it ends where it is dropped.
        hooks = sys.get_asyncgen_hooks()
        sys.set_asyncgen_hooks(None, None)
        try:
            async with trio.open_nursery() as nursery:
                self.nursery = nursery
                mover = self.table.head.advance()
                if mover is not None:
                    self.hand_to(mover)
                    self.main.is_parked = True
                    try:
                        await trio.lowlevel.wait_task_rescheduled(self._interrupted)
                    finally:
                        self.main.is_parked = False
                    # A life that was ended before the last of its tasks had started left its
                    # carrier with nothing to carry.
                    for host in list(self.parked):
                        self._wake(host, None)
        except BaseException as error:
            # A nursery raises groups; the World raises the first error alone.
            self.table.fail(error)
        finally:
            sys.set_asyncgen_hooks(*hooks)

    def _interrupted(self, raise_cancel: Callable[[], Any]) -> trio.lowlevel.Abort:
        """Cancelled from outside: end the Run at its next turn, then raise that."""
        if self.table.stop is None:
            try:
                raise_cancel()
            except BaseException as error:
                self.table.stop = error
        return self._stay()

    def _stay(self, _: Any = None) -> trio.lowlevel.Abort:
        """Refuse to be cancelled by trio: the World alone ends the wait of a parked task, unless
        the World itself is broken."""
        return trio.lowlevel.Abort.SUCCEEDED if self.is_broken else trio.lowlevel.Abort.FAILED

    def _stop(self, why: BaseException) -> None:
        """Called in trio's own loop, some time after the watchdog has asked."""
        self.table.stop = self.table.stop or why
        if not self.is_handed_on and self.main.is_parked:
            self._let_go(HarnessBug(f"no task holds the turn: {why}"))

    def _let_go(self, error: BaseException) -> None:
        self.table.fail(error)
        self.is_broken = True
        self.nursery.cancel_scope.cancel()

    def hand_to(self, mover: Seat | Waiter | None) -> None:
        """Let this task move next; None: the Run is over, so wake the World's own task."""
        if mover is None:
            self._wake(self.main, None)
        elif not isinstance(mover, Seat):
            self.is_handed_on = True
            self.nursery.start_soon(self._attend, mover, name="doorman")
        elif mover.life.host is None:
            self.is_handed_on = True
            self.nursery.start_soon(self._carry, mover, name=mover.life.role.name)
        else:
            self._wake(mover.life.host, mover)

    def _wake(self, host: _Host, mover: Seat | None) -> None:
        """Wake a task; the only place that does. To wake one that is not parked in a turn would
        destroy the whole `trio.run`, so check that first."""
        if not host.is_parked:
            raise HarnessBug(f"{host.task.name} was to be woken, but it is not parked in a turn")
        host.is_parked = False
        host.mover = mover
        self.is_handed_on = True
        trio.lowlevel.reschedule(host.task)

    # The one task that waits for anything but the turn. All others are parked meanwhile, so there
    # is still never more than one that can run.
    async def _attend(self, waiter: Waiter) -> None:
        """Wait for real programs, then let the World go on."""
        mover: Seat | Waiter | None = waiter
        try:
            while mover is waiter:
                self.table.waits += 1
                with trio.move_on_after(waiter.wait_s, shield=True):
                    await trio.lowlevel.wait_readable(waiter.fileno())
                mover = self.table.head.advance()
            self.hand_to(mover)
        except BaseException as error:
            self._let_go(error)

    async def _carry(self, seat: Seat) -> None:
        try:
            await self._carried(seat)
        except BaseException as error:
            # Only a bug of ours gets here. No turn can be handed on any more.
            self._let_go(error)

    # One trio task carries all tasks of a life: from one of them to the next is a call, and only
    # from one actor to another the turn goes through trio.
    @types.coroutine
    def _carried(self, first: Seat) -> Generator[Any, Any, None]:
        life, move = first.life, self.table.move
        host = life.host = _Host()
        host.mover = first
        while (seat := host.mover) is not None:
            self.is_handed_on = False
            mover = move(seat)
            if mover is seat:
                yield from _expel(seat)
                continue
            if isinstance(mover, Seat) and mover.life is life:
                host.mover = mover
                continue
            host.is_parked = bool(life.seats)
            self.hand_to(mover)
            if not host.is_parked:
                return
            self.parked[host] = None
            try:
                yield from trio.lowlevel.wait_task_rescheduled(self._stay)
            finally:
                host.is_parked = False
                del self.parked[host]


def _expel(seat: Seat) -> Generator[Any, Any, None]:
    """Get a task out of an await of trio's: let trio cancel it, and note how the wait ended."""
    with trio.CancelScope() as scope:
        scope.cancel()
        try:
            seat.value = yield seat.trap
        except BaseException as error:
            seat.error = error


async def play_async(table: Table) -> None:
    """Play one Run inside a `trio.run` that is already there."""
    await _TrioRun(table).run()


def play_all(tables: Iterable[Table]) -> None:
    """Play one Run after another in one `trio.run`; the next Table is asked for between two."""

    async def session() -> None:
        alive = trio.lowlevel.current_statistics().tasks_living
        for table in tables:
            await _TrioRun(table).run()
            left = trio.lowlevel.current_statistics().tasks_living - alive
            if left:
                raise HarnessBug(f"a Run has ended and left {left} trio task(s) behind")

    trio.run(session)


def checkpoints_per_s(
    tasks: int, seconds: float, clock: Callable[[], float] = time.perf_counter
) -> float:
    """How many checkpoints plain trio does with that many tasks, in a second of that clock: the
    yardstick of `bench turns` and `bench runs`."""
    count = 0

    async def spin(until: float) -> None:
        nonlocal count
        while clock() < until:
            for _ in range(1000):
                await trio.lowlevel.checkpoint()
            count += 1000

    async def session() -> None:
        until = clock() + seconds
        async with trio.open_nursery() as nursery:
            for _ in range(tasks):
                nursery.start_soon(spin, until)

    began = clock()
    trio.run(session)
    return count / (clock() - began)
