"""Turns: parks every task of every actor, and lets exactly one move at a time.

An actor's coroutine is *carried*: `Table.move` sends into it until it awaits, which yields TRAP,
the one thing an actor can wait with. Then the World plays turns until some task is to move. If it
is the same one, no driver is entered at all; else the driver hands over to it. So the code that
decides never runs on an actor's stack, and no error of it can be raised into an actor.

A driver (`drivers/`) is what calls `move`: a trio task for each Seat, or a bare loop.
"""

from __future__ import annotations

import contextvars
import inspect
import types
from collections import deque
from collections.abc import Callable, Coroutine, Generator, Sequence
from functools import partial
from typing import Any, Final

from testbed.errors import Cancelled, Crashed, HarnessBug, HarnessError, Overrun, ScenarioError
from testbed.store.footprint import Marks
from testbed.turns.life import (
    ADVICE,
    REFUSALS_MAX,
    Death,
    Life,
    Role,
    Seat,
    abandon,
    alien,
    death_of,
    endless,
    is_unwinding,
)
from testbed.turns.option import ANSWER, DELIVER, RESUME, START, Option
from testbed.turns.pending import Pending
from testbed.turns.trace import Record, Step

TRAP: Final = object()


@types.coroutine
def give_turn() -> Generator[object, Any, Any]:
    """Park the calling task until an Option that ends its wait is performed: the only trap."""
    return (yield TRAP)


class Table:
    """The one place where tasks wait and the turn is handed on; the World sits at its head."""

    def __init__(self) -> None:
        self.pending = Pending()
        self.marks = Marks()
        self.step = 0
        """The number of the Step under way: the cause of whatever is offered during it."""
        self.running: Seat | None = None
        """The task whose code is on the stack; None while the World decides."""
        self._context = contextvars.copy_context()
        """What a new life finds set; what it sets itself, no other life sees."""
        self.roles: dict[str, Role] = {}
        self.dying: deque[Seat] = deque()
        self.deaths: list[Death] = []
        self.last_fault_ms = 0
        self.faults = 0
        """How many have struck."""
        self.records: list[Record] = []
        self.on_record: Callable[[Record], None]
        """Called with each new one; set by the World."""
        self.pick: Callable[[Seat, str, Sequence[object]], int]
        """Lets the Chooser decide which of these; set by the World, never raises."""
        self.begin_again: Callable[[Role, int], None]
        """Begins another life of an actor so much later; set by the World."""
        self.audits = False
        """Whether Caches hand out recording views, to catch a read that was not declared."""
        self.failure: BaseException | None = None
        """What the World's own task will raise, bare, when all is cleared away."""
        self.stop: BaseException | None = None
        """Asked from outside: end at the next turn (Overrun, KeyboardInterrupt, a cancellation)."""
        self.is_over = False
        """Whether the Run has ended, and what still moves is only torn down."""
        self.turn: Step | None = None
        """That Step, while anybody reads it."""
        self.advance: Callable[[], Seat | None]
        """Plays turns until a task is to move; set by the World, never raises."""
        self.wake_driver: Callable[[BaseException], None] = self._ask_to_stop
        """Asks, from a signal handler, for the Run to end at its next turn; a driver that may be
        asleep replaces it."""
        self.intruder: Callable[[], str] = lambda: "a task"
        """Names the task that runs now; set by the driver."""

    # -- offering -------------------------------------------------------------------------------

    @property
    def now_ms(self) -> int:
        """Virtual time."""
        return self.pending.now_ms

    def offer(self, option: Option) -> None:
        """Announce an Option; a stalled actor's, or a cut-off one's, for when that is over."""
        due = self.pending.now_ms
        seat = option.seat
        if seat is not None:
            seat.offered.append(option)
            life = seat.life
            if life.stalled_until_ms > due:
                due = life.stalled_until_ms
            if life.role.cut_off_until_ms > due and option.kind in (ANSWER, DELIVER):
                due = life.role.cut_off_until_ms
        if due > option.due_ms:
            option.due_ms = due
        if option.due_ms > self.pending.now_ms:
            option.has_waited = True
        self.pending.add(option)

    def offer_turn(
        self, seat: Seat, kind: str, verb: str, due_ms: int, end: Callable[[], Any]
    ) -> Option:
        """Offer what ends a wait of a task inside its actor: start, resume, wake."""
        life = seat.life
        said = (kind, seat.path, verb, "", "")
        # Counted when it happens, so that its number does not tell how often it was taken back.
        nth = life.said_next(said) + sum(o.kind == kind and o.verb == verb for o in seat.offered)
        rank = life.role.rank if kind == "wake" else 0
        option = Option(
            kind, seat.path, partial(life.said_now, said, end), (self.step,), due_ms,
            life.role.name, verb, "", "", nth, rank, seat,
        )  # fmt: skip
        self.offer(option)
        return option

    def postpone(self, life: Life, until_ms: int, which: Callable[[Option], bool]) -> None:
        """Put back what this actor could do, of a kind, to a later due time."""
        name = life.role.name
        for option in [o for o in (*self.pending, *self.pending.held) if o.actor == name]:
            if which(option):
                self.pending.postpone(option, until_ms)
                if option.due_ms > self.now_ms:
                    option.has_waited = True

    def turn_said(self, revision: str, outcome: str) -> None:
        """Note on the Step under way which revision it read or wrote, and how it was refused."""
        if self.turn is not None:
            self.turn.revision = revision
            self.turn.outcome = outcome

    # -- waiting --------------------------------------------------------------------------------

    def wait(self, seat: Seat, reason: object, *, is_idle: bool = False) -> None:
        """The calling task begins to wait; whoever calls offers what ends it. The reason is put
        in words only for a World that got stuck."""
        seat.waits_for = reason
        seat.is_idle = is_idle
        if seat.is_cancelled:
            self._offer_cancel(seat)

    def end_wait(
        self, seat: Seat, value: object = None, error: BaseException | None = None
    ) -> Seat:
        """Its wait is over: withdraw the other Options of it; it is to move."""
        seat.number += 1
        offered = seat.offered
        if len(offered) > 1:
            for option in offered:
                self.pending.remove(option)
        offered.clear()
        seat.value = value
        seat.error = error
        return seat

    # -- tasks ----------------------------------------------------------------------------------

    def begin_life(self, role: Role, run: Callable[[], Coroutine[Any, Any, Any]]) -> Life:
        """A new incarnation, whose main task is `run`; called when its `start` is performed."""
        life = Life(role)
        seat = Seat(life.path_for("main"), life, run, self._context.copy())
        life.seats[seat.path] = seat
        return life

    def spawn(self, life: Life, name: str, fn: Callable[[], Coroutine[Any, Any, Any]]) -> Seat:
        """Offer the start of a new task of that life."""
        self.marks.writes.append(f"spawn:{life.role.name}/{name}")
        spawner = self.running
        context = self._context if spawner is None else spawner.context
        seat = Seat(life.path_for(name), life, fn, context.copy())
        life.seats[seat.path] = seat
        self.offer_turn(seat, START, "", 0, lambda: self.end_wait(seat))
        return seat

    def cancel(self, seat: Seat) -> None:
        """Offer that the wait of a parked task ends with Cancelled; a task that has not started
        never does. One that moves at the moment is the caller itself, and is refused."""
        if seat is self.running:
            raise self.refused(f"{seat.path} cancels itself; let it return instead")
        self.marks.writes.append(f"task:{seat.path}")
        self.marks.reads.append(seat.end_key)
        if seat.has_ended or seat.is_cancelled:
            return
        if seat.coro is None:
            self._withdraw_all(seat)
            self._seat_ended(seat)
        else:
            seat.is_cancelled = True
            self._offer_cancel(seat)

    def _offer_cancel(self, seat: Seat) -> None:
        """Offered again with every wait until it has happened: if another Option ends the present
        one first, the next one is cancelled."""

        def cancel() -> Seat:
            seat.is_cancelled = False
            return self.end_wait(seat, error=Cancelled())

        self.offer_turn(seat, RESUME, "cancel", 0, cancel)

    def withdraw(self, option: Option) -> None:
        """Take back what would have ended a wait that goes on; if it is pending at all."""
        if option.place is not None:
            self.pending.remove(option)
            if option.seat is not None:
                option.seat.offered.remove(option)

    def _withdraw_all(self, seat: Seat) -> None:
        for option in seat.offered:
            self.pending.remove(option)
        seat.offered.clear()

    def end_life(self, life: Life) -> None:
        """The life is over, now: its Client refuses, its Options go, what it has sent stays sent;
        `Crashed` will be raised into its parked tasks one by one, in path order."""
        if not life.is_alive:
            return
        life.is_alive = False
        self.marks.writes.append(life.role.lives_key)
        for stream in list(life.streams):
            stream.close()
        for path in sorted(life.seats):
            seat = life.seats[path]
            self._withdraw_all(seat)
            if seat.coro is None:
                seat.has_ended = True
                del life.seats[path]
            elif seat is not self.running:
                self.dying.append(seat)

    def next_dying(self) -> Seat:
        """The next parked task of a dead life, with `Crashed` to be raised in it."""
        seat = self.dying.popleft()
        return self.end_wait(seat, error=Crashed(f"{seat.life.role.name} has crashed"))

    def caller(self) -> Seat:
        """The task that calls its Client: it must hold the turn, and live."""
        seat = self.running
        if seat is None:
            error = HarnessBug(
                f"{self.intruder()} moved without holding the turn (step {self.step}).\n"
                "Only `client.spawn` makes tasks that may use the Client: no nursery, thread "
                "or callback of its own reaches the World."
            )
            self.fail(error)
            raise error
        if not seat.life.is_alive and not is_unwinding():
            self.refused(f"{seat.path} swallowed Crashed and went on (step {self.step}).\n{ADVICE}")
        return seat

    def refused(self, said: str) -> ScenarioError:
        """The error to raise in an actor that broke a rule; it ends the Run even if caught."""
        error = ScenarioError(said)
        self.fail(error)
        return error

    def _ask_to_stop(self, why: BaseException) -> None:
        self.stop = self.stop or why

    def fail(self, error: BaseException) -> None:
        """Keep the first error that ends the Run; the World's own task raises it."""
        if self.failure is None:
            self.failure = error

    # -- moving ---------------------------------------------------------------------------------

    def move(self, seat: Seat) -> Seat | None:
        """Let this task move until another is to: that one, or None at the end of the Run.

        The same Seat comes back only when it awaited what is not the World's (`seat.trap`); the
        driver then gets it out of there, since only a driver knows how.
        """
        while self._carry(seat):
            mover = self.advance()
            if mover is not seat:
                return mover
        return seat

    def _carry(self, seat: Seat) -> bool:
        """Send into the task until it parks or ends: True. False: it awaited something else."""
        life = seat.life
        role, marks = life.role, self.marks
        (marks.writes if role.shares_memory else marks.reads).append(role.memory)
        coro = seat.coro or self._begin(seat)
        if coro is None:
            return True
        run = seat.context.run
        while True:
            if seat.refusals > REFUSALS_MAX:
                self.fail(ScenarioError(endless(seat)))
                abandon(coro)
                self._seat_ended(seat)
                return True
            value, error = seat.value, seat.error
            seat.value = seat.error = None
            self.running = seat
            try:
                trap = run(coro.send, value) if error is None else run(coro.throw, error)
            except StopIteration as end:
                seat.result = end.value
                self._seat_ended(seat)
                return True
            except BaseException as ended_by:
                self._seat_failed(seat, ended_by)
                return True
            finally:
                self.running = None
            if trap is TRAP and life.is_alive:
                return True
            seat.refusals += 1
            if trap is not TRAP:
                self.fail(ScenarioError(alien(seat, trap)))
                seat.trap = trap
                return False
            seat.error = Crashed(f"{life.role.name} has crashed")

    def _begin(self, seat: Seat) -> Coroutine[Any, Any, Any] | None:
        """Call what the task is to run; None if that has failed already."""
        self.running = seat
        try:
            coro = seat.context.run(seat.fn)
        except BaseException as error:
            self._seat_failed(seat, error)
            return None
        finally:
            self.running = None
        if not inspect.iscoroutine(coro):
            self.fail(ScenarioError(f"{seat.path}: {seat.fn!r} is not an async function"))
            self._seat_ended(seat)
            return None
        seat.coro = coro
        return coro

    def _seat_ended(self, seat: Seat) -> None:
        seat.has_ended = True
        self.marks.writes += (seat.end_key, seat.life.role.ends_key)
        life = seat.life
        life.seats.pop(seat.path, None)
        for waiting, tell in list(seat.joined_by.items()):
            if waiting.life.is_alive:
                tell()
        if life.is_alive and not life.seats:
            self.end_life(life)

    def _seat_failed(self, seat: Seat, error: BaseException) -> None:
        """The first exception in any task of a life ends that life; a person's or ours, the Run."""
        life = seat.life
        if isinstance(error, Overrun) and self.is_over:
            self.fail(ScenarioError(f"{error}: it goes on after the Run has ended.\n{ADVICE}"))
        elif isinstance(error, Overrun | KeyboardInterrupt):
            self.stop = self.stop or error
        elif isinstance(error, Exception) and not isinstance(error, HarnessError):
            if life.is_alive:
                self.deaths.append(death_of(seat, error))
                seat.has_ended = True
                del life.seats[seat.path]
                self.end_life(life)
        elif not isinstance(error, Crashed | Cancelled):
            self.fail(error)
        self._seat_ended(seat)
