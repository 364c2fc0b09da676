"""Client: all that an actor holds of the World."""

from __future__ import annotations

import types
from collections.abc import Callable, Coroutine, Generator, Mapping, Sequence
from typing import Any, NoReturn, TypeVar

from testbed.client.asking import (
    PICKED,
    check_ms,
    check_object,
    check_part,
    check_pick,
    check_read,
    no_task,
    plural_of_kind,
    to_patch,
    to_write,
)
from testbed.client.handed import asked
from testbed.client.spawned import beginning
from testbed.client.stream import Stream
from testbed.client.wire import Wire
from testbed.errors import Cancelled, Crashed, ScenarioError, TimedOut
from testbed.objects.meta import UNSET, Map, Object, Revision
from testbed.store.endpoint import EVERYTHING, NO_OPTIONS, Listing, Operation
from testbed.store.selector import Selector
from testbed.turns.because import Because, number_of
from testbed.turns.life import Life, Seat
from testbed.turns.table import TRAP, Table
from testbed.turns.timers import Alarm, Sleep
from testbed.turns.trace import Record
from testbed.turns.waits import First, Join, Queue, Signal, Waitable

T = TypeVar("T")
O = TypeVar("O", bound=Object)  # noqa: E741


class Client:
    """One life's access to the World. Every await on it ends a turn; nothing else may be awaited.

    The verbs raise an ApiError when they are refused. `Unavailable` says that no answer came, and
    that the operation may or may not have taken effect. After a crash, every call raises Crashed.
    """

    def __init__(self, table: Table, wire: Wire, life: Life) -> None:
        self._table = table
        self._wire = wire
        self._life = life

    @property
    def name(self) -> str:
        """The name of the actor."""
        return self._life.role.name

    @property
    def life(self) -> int:
        """Which life of the actor this is, from 1; part of names that must differ between lives."""
        return self._life.number

    @property
    def switches(self) -> Any:
        """The values of this actor's switches; None if its component has none."""
        return self._life.role.switches

    # -- what is asked of Endpoints -------------------------------------------------------------

    async def get(
        self,
        kind: type[O],
        name: str,
        namespace: str = "default",
        *,
        at: Revision = UNSET,
        timeout_ms: int | None = None,
    ) -> O:
        """Get the object of that name, as it is now or as it was at a revision; NotFound."""
        plural = plural_of_kind(self._table, "get", kind)
        operation = Operation("get", plural, name, _within(kind, namespace), revision=at)
        return await self._answer_to(operation, timeout_ms)  # type: ignore[no-any-return]

    async def list(
        self,
        kind: type[Object],
        selector: Selector = EVERYTHING,
        *,
        at: Revision = UNSET,
        options: Map[Any] = NO_OPTIONS,
        timeout_ms: int | None = None,
    ) -> Listing:
        """List the selected objects of that kind: one snapshot, with its revision."""
        check_read(self._table, "list", selector, at)
        plural = plural_of_kind(self._table, "list", kind)
        operation = Operation("list", plural, selector=selector, revision=at, options=options)
        return await self._answer_to(operation, timeout_ms)  # type: ignore[no-any-return]

    async def watch(
        self,
        kind: type[Object],
        since: Revision,
        selector: Selector = EVERYTHING,
        *,
        options: Map[Any] = NO_OPTIONS,
        timeout_ms: int | None = None,
    ) -> Stream:
        """Watch every Change after that revision; `await stream.next()` gives the next. Expired if
        that history is gone."""
        check_read(self._table, "watch", selector, since)
        plural = plural_of_kind(self._table, "watch", kind)
        operation = Operation("watch", plural, selector=selector, revision=since, options=options)
        return await self._answer_to(operation, timeout_ms)  # type: ignore[no-any-return]

    async def create(
        self,
        item: O,
        *,
        subresource: str = "",
        timeout_ms: int | None = None,
        because: Because | None = None,
    ) -> O:
        """Create an object; the answer has its uid and revision. AlreadyExists."""
        operation = self._writing("create", item, subresource)
        return await self._answer_to(operation, timeout_ms, because)  # type: ignore[no-any-return]

    async def update(
        self,
        item: O,
        *,
        whatever_it_was: bool = False,
        subresource: str = "",
        timeout_ms: int | None = None,
        because: Because | None = None,
    ) -> O:
        """Replace an object. Conflict if it has changed since the revision in its Meta; with
        `whatever_it_was`, or without a revision, the last writer wins."""
        operation = self._writing("update", item, subresource, whatever_it_was)
        return await self._answer_to(operation, timeout_ms, because)  # type: ignore[no-any-return]

    async def patch(
        self,
        item: O,
        tree: Mapping[str, Any],
        *,
        how: str = "merge",
        subresource: str = "",
        timeout_ms: int | None = None,
        because: Because | None = None,
    ) -> O:
        """Patch the object that has the item's name now. The tree has the fields as they stand on
        the wire: `{"status": {"phase": "Running"}}`. `how` is `merge` or `strategic`. NotFound."""
        check_object(self._table, "patch", item)
        meta, options, change = item.meta, Map({"how": how}), to_patch(self._table, tree)
        operation = Operation(
            "patch", item.plural, meta.name, meta.namespace, change, subresource=subresource,
            options=options,
        )  # fmt: skip
        return await self._answer_to(operation, timeout_ms, because)  # type: ignore[no-any-return]

    async def delete(
        self,
        item: Object,
        *,
        whatever_it_was: bool = False,
        options: Map[Any] = NO_OPTIONS,
        timeout_ms: int | None = None,
        because: Because | None = None,
    ) -> None:
        """Delete an object if it is still the same one at the same revision; with
        `whatever_it_was`, the object that has its name now. An API server reads the options
        `grace_s` and `propagation`. NotFound, Conflict."""
        check_object(self._table, "delete", item)
        meta = item.meta
        operation = Operation(
            "delete", item.plural, meta.name, meta.namespace,
            revision=UNSET if whatever_it_was else meta.revision,
            uid="" if whatever_it_was else meta.uid, options=options,
        )  # fmt: skip
        await self._answer_to(operation, timeout_ms, because)

    def _writing(
        self, verb: str, item: Object, subresource: str, whatever_it_was: bool = False
    ) -> Operation:
        """The Operation that writes that object."""
        item = to_write(self._table, verb, item)
        check_part(self._table, verb, item, subresource)
        if whatever_it_was:
            item = item.with_meta(revision=UNSET)
        meta = item.meta
        return Operation(
            verb, item.plural, meta.name, meta.namespace, item, meta.revision, "", EVERYTHING,
            subresource,
        )  # fmt: skip

    async def ask(
        self, operation: Operation, *, timeout_ms: int | None = None, because: Because | None = None
    ) -> Any:
        """Ask any Endpoint for any Operation. It is announced, served and answered, each when the
        World says so. `because` is the Record that it follows from. With `timeout_ms`
        it raises TimedOut if the answer comes later; the Operation itself stays in flight."""
        return await self._answer_to(asked(operation), timeout_ms, because)

    # What is between a task and its wait is entered and left with each answer, so there is as
    # little of it as can be: no coroutine here, but the generator in which the task parks.
    @types.coroutine
    def _answer_to(
        self, operation: Operation, timeout_ms: int | None, because: Because | None = None
    ) -> Generator[object, Any, Any]:
        """Ask for that Operation and park until its answer is there."""
        seat, life = self._seat(), self._life
        if timeout_ms is not None:
            check_ms(self._table, "timeout_ms", timeout_ms)
        if not life.is_alive:
            return (yield TRAP)
        if because is not None and not isinstance(because, Because):
            raise self._no_record(because)
        wire = self._wire
        post = wire.post_of(operation, life.role)
        if post.endpoint.near:
            return wire.ask_near(seat, post, operation)
        # The number of a Record is no local here: it counts on, and a lap has equal locals.
        request = wire.ask(
            seat, post, operation, timeout_ms, 0 if because is None else number_of(because)
        )
        try:
            return (yield TRAP)
        except (TimedOut, Cancelled, Crashed):
            request.forsake()
            raise

    def _no_record(self, because: object) -> ScenarioError:
        return self._table.refused(
            f"{self.name} asks because={because!r}, which is no Record",
            "pass what client.record returned",
        )

    def tell(self, operation: Operation) -> None:
        """Send a message: an Operation without an answer."""
        self._wire.tell(self._live_seat(), asked(operation))

    # -- time and tasks -------------------------------------------------------------------------

    def now(self) -> int:
        """The time in ms by this actor's own clock, which a clock step may have shifted."""
        table, life = self._table, self._life
        self._live_seat()
        life.saw_time_at = table.step
        return table.pending.now_ms + life.role.clock_shift_ms

    def elapsed(self) -> int:
        """The time in ms by a clock that is never set, to measure how long something takes."""
        table = self._table
        self._live_seat()
        self._life.saw_time_at = table.step
        return table.pending.now_ms

    def sleep(self, ms: int, name: str = "sleep", *, idle: bool = False) -> Waitable:
        """Wait that long; the name is what race files call this timer. With `idle`, a Run may end
        without it: for a look that only repeats what the actor does anyway."""
        return Sleep(self._table, ms, name, idle)

    def alarm(self, name: str, *, idle: bool = False) -> Alarm:
        """A timer that may be set again while a task waits for it; the name is what race files
        call it. With `idle`, a Run may end without it, as with `sleep`."""
        apart = not self._life.role.shares_memory
        path = f"{self.name}/{name}"
        return Alarm(self._table, path, name, marks_looks=apart, is_idle=idle)

    def spawn(self, name: str, fn: Callable[..., Coroutine[Any, Any, T]], *args: Any) -> Task:
        """Spawn another task of this actor, `actor/name`; it starts when the World says so."""
        life = self._live_seat().life
        begin = beginning(self._table, name, fn, args)
        return Task(self._table, self._table.spawn(life, name, begin))

    def join(self, task: Task) -> Waitable:
        """Wait until that task has ended. Gives what it returned, or None if it was cancelled."""
        return Join(self._table, self._task(task)._seat)

    def cancel(self, task: Task) -> None:
        """Raise Cancelled in that task's wait, when the World says so."""
        self._live_seat()
        self._table.cancel(self._task(task)._seat)

    def _task(self, task: Task) -> Task:
        if isinstance(task, Task):
            return task
        raise no_task(self._table, self.name, task)

    def signal(self, name: str = "signal") -> Signal:
        """A signal: tasks of this actor wait for it until another task sets it."""
        return Signal(self._table, f"{self.name}/{name}")

    def queue(self, name: str = "queue", *, idle: bool = False) -> Queue:
        """A first-in-first-out queue between tasks of this actor. With `idle`, a task that waits
        for an item for ever is no deadlock."""
        return Queue(self._table, f"{self.name}/{name}", idle)

    def first(self, *waits: Waitable) -> Waitable:
        """Wait for the first of several waits to end; gives `(its index, its value)`."""
        return First(self._table, waits)

    def exit(self, again_after_ms: int | None = None) -> NoReturn:
        """End this life, as a program exits; its requests stay in flight. A new life begins that
        much later, as if restarted from outside; None: there is none."""
        life = self._live_seat().life
        check_ms(self._table, "again_after_ms", again_after_ms)
        self._table.end_life(life)
        if again_after_ms is not None:
            self._table.head.begin_again(life.role, again_after_ms)
        raise Crashed(f"{self.name} has ended itself")

    # -- choices and records --------------------------------------------------------------------

    def pick(self, label: str, alternatives: Sequence[T]) -> T:
        """Let the Chooser pick one of the alternatives, dullest first; an actor has no other
        randomness."""
        if type(alternatives) not in PICKED or type(label) is not str:
            check_pick(self._table, label, alternatives)
        if not alternatives:
            raise self._table.refused(
                f"{self._seat().path} picks {label!r} from nothing",
                "give it an alternative at least",
            )
        return alternatives[self._table.head.pick(self._live_seat(), label, alternatives)]

    def record(self, name: str, facts: Mapping[str, Any] | None = None, **more: Any) -> Because:
        """Write a Record into the trace, which no actor can read. What it returns is for
        `because=` alone."""
        seat, table = self._live_seat(), self._table
        number = len(table.records) + 1
        given = {**facts, **more} if facts else more
        record = Record(number, table.step, table.pending.now_ms, seat.path, name, given)
        table.records.append(record)
        table.head.recorded(record)
        return Because(number)

    def show(self, name: str, what: Any) -> None:
        """Show something of this life to invariants, as `role.life.shown[name]`. They look when a
        turn has ended, and may change nothing; no actor can look."""
        self._live_seat().life.shown[name] = what

    def _seat(self) -> Seat:
        seat, life = self._table.running, self._life
        if seat is not None and seat.life is life and life.is_alive:
            return seat
        seat = self._table.caller()
        if seat.life is not self._life:
            raise self._table.refused(
                f"{seat.path} uses the Client of {self.name}, life {self._life.number}; a Client "
                "belongs to one life of one actor",
                "use the one that `run` was given",
            )
        return seat

    def _live_seat(self) -> Seat:
        # As `_seat` begins, written out: an actor asks for the time more often than for all else.
        seat, life = self._table.running, self._life
        if seat is not None and seat.life is life and life.is_alive:
            return seat
        seat = self._seat()
        if not seat.life.is_alive:
            raise Crashed(f"{self.name} has crashed")
        return seat


class Task:
    """A task of this actor, as `spawn` returns it: join it, or cancel it."""

    __slots__ = ("_seat", "_table")

    def __init__(self, table: Table, seat: Seat) -> None:
        self._table = table
        self._seat = seat

    @property
    def has_ended(self) -> bool:
        """Whether it has ended, by a return, an error or a cancellation."""
        self._table.marks.reads.append(self._seat.end_key)
        return self._seat.has_ended


def _within(kind: type[Object], namespace: str) -> str:
    return namespace if kind.is_namespaced else ""
