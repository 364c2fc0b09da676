"""Table: where every task of every actor is parked, and where the turn is handed on.

An actor's coroutine is *carried*: `Table.move` sends into it until it awaits, which yields TRAP,
the one thing an actor can wait with. Then the World plays turns until some task is to move. If it
is the same task, `move` sends into it again; else the driver hands over to the other one. So the
code that decides never runs on an actor's stack, and no error of it can be raised into an actor.

A driver (`drivers/`) is what calls `move`: a trio task for each life, or a bare loop.
"""

from __future__ import annotations

import contextvars
import inspect
from collections import deque
from collections.abc import Callable, Coroutine
from functools import partial
from typing import Any, Final

from testbed.errors import Cancelled, Crashed, HarnessBug, HarnessError, Overrun, ScenarioError
from testbed.store.footprint import Marks
from testbed.turns.head import Driver, Head, Waiter

from testbed.turns.life import (  # isort: skip
    ADVICE, REFUSALS_MAX, Death, Life, Role, Seat, abandon, alien, death_of, endless, is_unwinding,
    not_async, out_of_turn, placed, refusal, waited_elsewhere,
)  # fmt: skip
from testbed.turns.option import ANSWER, DELIVER, RESUME, START, WAKE, Option
from testbed.turns.pending import Pending
from testbed.turns.trace import Record, Step

TRAP: Final = object()
"""What a task yields to give up the turn. Anything else that it yields is not the World's."""


class Table:
    """The one place where tasks wait and the turn is handed on; a Head decides."""

    def __init__(self) -> None:
        self.pending = Pending()
        self.marks = Marks()
        self.step = 0
        """The number of the Step under way: the cause of every Option offered during it."""
        self.turn: Step | None = None
        """That Step itself, if anything will read it."""
        self.running: Seat | None = None
        """The task whose code is on the stack; None while the World decides."""
        self.driver: Driver | None = None
        """What carries the tasks, if it can be asleep or has tasks of its own."""
        self.roles: dict[str, Role] = {}
        self.dying: deque[Seat] = deque()
        """The parked tasks of dead lives, in the order in which they are to be ended."""
        self.deaths: list[Death] = []
        self.last_fault_ms = 0
        self.faults = 0
        self.records: list[Record] = []
        self.audits = False
        """Whether Caches hand out recording views, to catch a read that was not declared."""
        self.failure: BaseException | None = None
        """The first error that ends the Run; the World's own task raises it in the end."""
        self.stop: BaseException | None = None
        """Why the Run must end at its next turn: Overrun, KeyboardInterrupt, a cancellation."""
        self.is_over = False
        """Whether the Run has ended and is being torn down."""
        self.waits = 0
        """How often it has waited for real programs; no turn ends meanwhile."""
        self._head: Head | None = None
        self.context = contextvars.copy_context()
        """The context variables of a new life; what a life sets, no other life sees."""

    @property
    def head(self) -> Head:
        """What decides; only asked for during a Run."""
        assert self._head is not None, "no Run has begun at this Table"
        return self._head

    def begin(self, head: Head) -> None:
        """Begin the Run: from now on that decides."""
        self._head = head

    # -- offering -------------------------------------------------------------------------------

    @property
    def now_ms(self) -> int:
        """Virtual time."""
        return self.pending.now_ms

    def offer(self, option: Option) -> None:
        """Announce an Option. If its actor is stalled or partitioned, it becomes due when that is
        over."""
        pending = self.pending
        due_ms = now_ms = pending.now_ms
        seat = option.seat
        if seat is not None:
            seat.offered.append(option)
            life = seat.life
            if life.stalled_until_ms > due_ms:
                due_ms = life.stalled_until_ms
            if life.role.cut_off_until_ms > due_ms and option.kind in (ANSWER, DELIVER):
                due_ms = life.role.cut_off_until_ms
        if due_ms > option.due_ms:
            option.due_ms = due_ms
        if option.due_ms > now_ms:
            option.is_timed = True
        pending.add(option)

    def offer_turn(
        self, seat: Seat, kind: str, verb: str, due_ms: int, end: Callable[[], Any]
    ) -> Option:
        """Offer what ends a wait of a task inside its actor: start, resume, wake."""
        life = seat.life
        sentence = (kind, seat.path, verb, "", "")
        # Counted when it is performed, not here: else its number would tell how often it was
        # offered and withdrawn. Equal Options that this wait offers beside it come before it.
        nth = life.next_nth(sentence)
        for beside in seat.offered:
            if beside.kind == kind and beside.verb == verb:
                nth += 1
        perform = partial(life.count_and, sentence, end)
        role = life.role
        option = Option(kind, seat.path, perform, (self.step,), due_ms, role.name, seat)
        option.verb, option.nth = verb, nth
        if kind == WAKE:
            option.rank = role.rank
        self.offer(option)
        return option

    def postpone(self, life: Life, until_ms: int, which: Callable[[Option], bool]) -> None:
        """Give all of an actor's Options for which that is true a later due time."""
        name = life.role.name
        for option in [o for o in (*self.pending, *self.pending.held) if o.actor == name]:
            if which(option):
                self.pending.postpone(option, until_ms)
                if option.due_ms > self.now_ms:
                    option.is_timed = True

    def note_outcome(self, revision: str, outcome: str) -> None:
        """Note on the Step under way which revision it read or wrote, and how it was refused."""
        if self.turn is not None:
            self.turn.revision = revision
            self.turn.outcome = outcome

    # -- waiting --------------------------------------------------------------------------------

    def wait(self, seat: Seat, reason: object, *, is_idle: bool = False) -> None:
        """Begin a wait of the calling task, whose caller then offers what ends it."""
        seat.waits_for = reason
        seat.is_idle = is_idle
        if seat.is_cancelled:
            self._offer_cancel(seat)

    def end_wait(
        self, seat: Seat, value: object = None, error: BaseException | None = None
    ) -> Seat:
        """End its wait with a value or an error, and withdraw the other Options of that wait.
        Returns the task, which is to move."""
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
        """Begin a new life whose main task is `run`; called when its `start` is performed."""
        life = Life(role)
        seat = Seat(life.path_for("main"), life, run, self.context.copy())
        life.seats[seat.path] = seat
        return life

    def spawn(self, life: Life, name: str, fn: Callable[[], Coroutine[Any, Any, Any]]) -> Seat:
        """Offer the start of a new task of that life."""
        self.marks.writes.append(f"spawn:{life.role.name}/{name}")
        spawner = self.running
        context = self.context if spawner is None else spawner.context
        seat = Seat(life.path_for(name), life, fn, context.copy())
        life.seats[seat.path] = seat
        self.offer_turn(seat, START, "", 0, lambda: self.end_wait(seat))
        return seat

    def cancel(self, seat: Seat) -> None:
        """Offer that the wait of a parked task ends with Cancelled. A task that has not started
        ends at once; a task that cancels itself is refused."""
        if seat is self.running:
            raise self.refused(f"{seat.path} cancels itself", "let it return")
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
        """Offer the cancellation in the present wait. If another Option ends that wait first,
        `wait` offers it again in the next one."""

        def cancel() -> Seat:
            seat.is_cancelled = False
            return self.end_wait(seat, error=Cancelled())

        self.offer_turn(seat, RESUME, "cancel", 0, cancel)

    def withdraw(self, option: Option) -> None:
        """Take back an Option while the wait it would end goes on; nothing if it is not pending."""
        if option.place is not None:
            self.pending.remove(option)
            if option.seat is not None:
                option.seat.offered.remove(option)

    def _withdraw_all(self, seat: Seat) -> None:
        for option in seat.offered:
            self.pending.remove(option)
        seat.offered.clear()

    # A crash has two parts. First, within the turn that causes it, the Client refuses and all
    # Options of the life go. Then the World raises `Crashed` into its parked tasks, one by one and
    # in path order. So no `except` or `finally` of the actor can still write, and none of them can
    # decide an order. Requests already sent stay in flight, as on a real network.
    def end_life(self, life: Life) -> None:
        """End a life: its Client refuses from now on, its Options are withdrawn, its watches are
        closed, and its parked tasks are queued in `dying`."""
        if not life.is_alive:
            return
        life.is_alive = False
        self.marks.writes.append(life.role.lives_key)
        for stream in list(life.streams):
            stream.close()
        for path in sorted(life.seats):
            seat = life.seats[path]
            if seat is not self.running:
                self.marks.writes.append(life.role.memory)  # each turn of that task touches it
            self._withdraw_all(seat)
            if seat.coro is None:
                seat.has_ended = True
                del life.seats[path]
            elif seat is not self.running:
                self.dying.append(seat)

    def next_dying(self) -> Seat:
        """The next parked task of a dead life; `Crashed` is raised in it when it moves."""
        seat = self.dying.popleft()
        return self.end_wait(seat, error=Crashed(f"{seat.life.role.name} has crashed"))

    def caller(self) -> Seat:
        """The task that is calling its Client; it must hold the turn, and its life must go on."""
        seat = self.running
        if seat is None:
            name = "a task" if self.driver is None else self.driver.running()
            error = HarnessBug(out_of_turn(name, self.step))
            self.fail(error)
            raise error
        if not seat.life.is_alive and not is_unwinding():
            self.refused(f"{seat.path} swallowed Crashed and went on (step {self.step})", ADVICE)
        return seat

    def refused(self, text: str, step: str) -> ScenarioError:
        """The error to raise in an actor that broke a rule; it ends the Run even if caught."""
        error = ScenarioError(refusal(text, step))
        self.fail(error)
        return error

    def fail(self, error: BaseException) -> None:
        """Keep the first error that ends the Run; the World's own task raises it."""
        if self.failure is None:
            self.failure = error

    def ask_to_stop(self, why: BaseException) -> None:
        """Ask, from a signal handler, for the Run to end at its next turn."""
        if self.driver is None:
            self.stop = self.stop or why
        else:
            self.driver.ask_to_stop(why)

    # -- moving ---------------------------------------------------------------------------------

    # How the turn is handed over. A task gives it up with an await, which ends in `yield TRAP`;
    # then `coro.send` returns below, and no frame of the actor is left on the stack. Only now the
    # Head plays turns, until one of them ends the wait of some task. Its errors pass no actor's
    # `except`; its Options carry a ticket, so none of them can end a wait that is already over.
    def move(self, seat: Seat) -> Seat | Waiter | None:
        """Let this task move until another is to; returns that one, or what `Head.advance` gives.

        It returns the same Seat only if that awaited something that is not the World's
        (`seat.trap`). The driver must then get it out of there; only a driver knows how.
        """
        head = self._head
        assert head is not None
        while self.carry(seat):
            mover = head.advance()
            if mover is not seat:
                return mover
        return seat

    def carry(self, seat: Seat) -> bool:
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
                # Its traceback may keep what the task never awaited; that is to be noticed now,
                # before its life is over.
                error = None
                seat.result = end.value
                self._seat_ended(seat)
                return True
            except BaseException as ended_by:
                self._seat_failed(seat, ended_by)
                return True
            finally:
                # Else its traceback keeps the task's variables alive until some later collection.
                error = None
                self.running = None
            if trap is TRAP and life.is_alive:
                return True
            # Either a dead life awaits in a `finally`, and no Option will ever end that wait: raise
            # Crashed again, until the task ends or has been refused too often. Or a task awaits
            # trio or asyncio, which would let the machine decide what moves next.
            seat.refusals += 1
            if trap is not TRAP:
                self.fail(ScenarioError(alien(seat, trap)))
                seat.trap = trap
                return False
            seat.error = Crashed(f"{life.role.name} has crashed")

    def _begin(self, seat: Seat) -> Coroutine[Any, Any, Any] | None:
        """Make the coroutine of a task that starts; None if that fails."""
        self.running = seat
        try:
            coro = seat.context.run(seat.fn)
        except BaseException as error:
            self._seat_failed(seat, error)
            return None
        finally:
            self.running = None
        if not inspect.iscoroutine(coro):
            self.fail(ScenarioError(not_async(seat, coro)))
            self._seat_ended(seat)
            return None
        seat.coro = coro
        return coro

    def _seat_ended(self, seat: Seat) -> None:
        life = seat.life
        seat.has_ended = True
        seat.waits_for = "nothing"
        self.marks.writes += (seat.end_key, life.role.ends_key)
        life.seats.pop(seat.path, None)
        if seat.joined_by:
            for waiting, notify in list(seat.joined_by.items()):
                if waiting.life.is_alive:
                    notify()
        if life.is_alive and not life.seats:
            self.end_life(life)

    def _seat_failed(self, seat: Seat, error: BaseException) -> None:
        """End a task by an exception. The actor's own exception ends its life; a HarnessError, an
        Overrun or an interrupt ends the Run."""
        life = seat.life
        if isinstance(error, (Crashed, Cancelled)):
            pass  # it was told to end
        elif isinstance(error, Overrun) and self.is_over:
            text = f"{error}: it goes on after the Run has ended.\nNext: {ADVICE}."
            self.fail(ScenarioError(text))
        elif isinstance(error, (Overrun, KeyboardInterrupt)):
            self.stop = self.stop or error
        elif isinstance(error, Exception) and not isinstance(error, HarnessError):
            if foreign := waited_elsewhere(seat, error):
                self.fail(ScenarioError(foreign))
            if life.is_alive:
                self.deaths.append(death_of(seat, error))
                seat.has_ended = True
                del life.seats[seat.path]
                self.end_life(life)
        else:
            self.fail(placed(error))
        self._seat_ended(seat)
