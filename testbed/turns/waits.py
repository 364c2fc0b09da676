"""Waits inside an actor: for the end of a task, a signal, a queue, or the first of them."""

from __future__ import annotations

import sys
from collections import deque
from collections.abc import Callable, Generator, Sequence
from typing import Any

from testbed.code.whose import whose
from testbed.errors import shown
from testbed.turns.forgotten import NOT_ACTORS, Spot, actors_frame, actors_line, forgot
from testbed.turns.life import Seat
from testbed.turns.option import RESUME, Option
from testbed.turns.table import TRAP, Table


class Waitable:
    """Something a task can wait for, by itself or as one of several (`client.first`).

    A subclass offers in `arm` the Options that would end the wait, and forgets the task in
    `disarm`. An Option that ends it passes the value through `wrap`, which adds its index if it is
    one of several.
    """

    reason = ""
    """What the task waits for, as a stuck World says it."""
    is_idle = False
    """Whether the wait may go on for ever, like that for a watch or an idle queue."""

    _is_awaited = False
    """Whether it was awaited, or is one of several; if it never is, that is an error."""

    def __init__(self, table: Table) -> None:
        self._table = table
        # Its own `__init__`, and the method that makes it, always stand between this and the actor.
        caller = sys._getframe(3)
        if whose(caller.f_code.co_filename) in NOT_ACTORS:
            caller = actors_frame(caller)
        self._made_at = Spot((caller.f_code, caller.f_lasti))
        """Where it was asked for. Its line is worked out only if the wait is forgotten."""

    def __del__(self) -> None:
        if not self._is_awaited:
            forgot(self._table, f"its wait for {self.reason}", *actors_line(*self._made_at))

    def arm(self, seat: Seat, wrap: Callable[[Any], Any]) -> None:
        """Called when the task begins to wait: offer what may end the wait."""

    def disarm(self, seat: Seat) -> None:
        """Called when the wait is over, also by an error: forget the task."""

    def note(self) -> None:
        """Called before `arm` and before `disarm` if this is one of several waits (`First`): mark
        in the turn's footprint what may end it, such as the key of a queue."""

    def __await__(self) -> Generator[object, Any, Any]:
        self._is_awaited = True
        table = self._table
        seat = table.caller()
        if seat.life.is_alive:
            table.wait(seat, self.reason, is_idle=self.is_idle)
            self.arm(seat, _as_it_is)
        try:
            return (yield TRAP)
        finally:
            self.disarm(seat)


def _as_it_is(value: Any) -> Any:
    return value


class Parked:
    """One task in one wait, with the Option that would end the wait, while that is offered."""

    def __init__(self, table: Table, seat: Seat, wrap: Callable[[Any], Any]) -> None:
        self._table = table
        self._seat = seat
        self._wrap = wrap
        self._offered: Option | None = None

    # A `finally` of a dead life may still set a signal or put something in a queue. That may not
    # wake a task of the same life, to which the World is about to raise Crashed.
    def offer(
        self, kind: str, verb: str, due_ms: int, end: Callable[[], Seat], *, is_idle: bool = False
    ) -> None:
        """Offer the end of the wait; not to a task of a dead life."""
        if self._seat.life.is_alive:
            self._offered = self._table.offer_turn(self._seat, kind, verb, due_ms, end)
            self._offered.is_idle = is_idle

    def take_back(self) -> None:
        """Withdraw what is offered, if anything is."""
        if self._offered is not None:
            self._table.withdraw(self._offered)
            self._offered = None

    def end(self, value: Any) -> Seat:
        """End the wait with that value."""
        self._offered = None
        return self._table.end_wait(self._seat, self._wrap(value))


class Join(Waitable):
    """The wait for the end of another task of the same actor."""

    def __init__(self, table: Table, target: Seat) -> None:
        super().__init__(table)
        self._target = target
        self.reason = f"join {target.path}"

    def arm(self, seat: Seat, wrap: Callable[[Any], Any]) -> None:
        table, target = self._table, self._target
        table.marks.reads.append(target.end_key)

        def ended() -> None:
            table.offer_turn(
                seat, RESUME, self.reason, 0, lambda: table.end_wait(seat, wrap(target.result))
            )

        if target.has_ended:
            ended()
        else:
            target.joined_by[seat] = ended

    def disarm(self, seat: Seat) -> None:
        self._table.marks.reads.append(self._target.end_key)
        self._target.joined_by.pop(seat, None)


class Signal:
    """Set or not set. When it is set, each wait for it may end, each in a turn of its own."""

    def __init__(self, table: Table, path: str) -> None:
        self._table = table
        self._key = f"signal:{path}"
        self._reason = f"signal {path}"
        self._waiting: dict[_InLine, None] = {}
        self._is_set = False

    @property
    def is_set(self) -> bool:
        """Whether a wait would end at once."""
        self._table.marks.reads.append(self._key)
        return self._is_set

    def set(self) -> None:
        """Let every wait for it end, until it is cleared."""
        self._turn_to(True)

    def clear(self) -> None:
        """From now on, a task that waits for it is parked."""
        self._turn_to(False)

    def _turn_to(self, is_set: bool) -> None:
        self._table.marks.writes.append(self._key)
        self._is_set = is_set
        for place in list(self._waiting):
            place.look()

    def wait(self) -> Waitable:
        """Wait until it is set."""
        return _Line(self._table, self)

    def _is_there(self) -> bool:
        return self._is_set

    def _take(self) -> None:
        """A signal stays set."""


class Queue:
    """First in, first out, without a bound. While it holds an item, every waiting task is offered
    the oldest; the first to move takes it."""

    def __init__(self, table: Table, path: str, is_idle: bool) -> None:
        self._table = table
        self._key = f"queue:{path}"
        self._reason = f"queue {path}"
        self._is_idle = is_idle
        self._waiting: dict[_InLine, None] = {}
        self._items: deque[Any] = deque()

    def __len__(self) -> int:
        self._table.marks.reads.append(self._key)
        return len(self._items)

    def put(self, item: Any) -> None:
        """Add an item at the end; any waiting task may be the one that takes it."""
        self._table.marks.writes.append(self._key)
        self._items.append(item)
        for place in list(self._waiting):
            place.look()

    def get(self) -> Waitable:
        """Wait for the oldest item, and take it."""
        line = _Line(self._table, self)
        line.is_idle = self._is_idle
        return line

    def _is_there(self) -> bool:
        return bool(self._items)

    def _take(self) -> Any:
        self._table.marks.writes.append(self._key)
        item = self._items.popleft()
        for place in list(self._waiting):
            place.look()
        return item


class _Line(Waitable):
    """The wait for a signal or a queue; its end is offered while there is something to take."""

    def __init__(self, table: Table, source: Signal | Queue) -> None:
        super().__init__(table)
        self.reason = source._reason
        self._key = source._key
        self._source = source
        self._places: dict[Seat, _InLine] = {}

    def arm(self, seat: Seat, wrap: Callable[[Any], Any]) -> None:
        if seat in self._places:
            raise self._table.refused(
                f"{seat.path} waits for one thing twice: {self.reason}", "wait for it once"
            )
        self._table.marks.reads.append(self._key)
        place = self._places[seat] = _InLine(self, seat, wrap)
        self._source._waiting[place] = None
        place.look()

    def disarm(self, seat: Seat) -> None:
        self._table.marks.reads.append(self._key)
        place = self._places.pop(seat, None)
        if place is not None:
            self._source._waiting.pop(place, None)


class _InLine(Parked):
    """One task in a line. Several tasks may await the same `_Line`, and each has its own place."""

    def __init__(self, line: _Line, seat: Seat, wrap: Callable[[Any], Any]) -> None:
        super().__init__(line._table, seat, wrap)
        self._line = line

    def look(self) -> None:
        """Offer that the task goes on, or take that back, depending on what there is to take."""
        line = self._line
        if not line._source._is_there():
            self.take_back()
        elif self._offered is None:
            self.offer(RESUME, line.reason, 0, self._end)

    def _end(self) -> Seat:
        line = self._line
        line._table.marks.reads.append(line._key)
        del line._source._waiting[self]
        return self.end(line._source._take())


class First(Waitable):
    """The wait for the first of several to end; the Options of the others are then withdrawn."""

    def __init__(self, table: Table, waits: Sequence[Waitable]) -> None:
        super().__init__(table)
        if not waits:
            raise table.refused("first() was given nothing to wait for", "give it a wait")
        for wait in waits:
            if not isinstance(wait, Waitable):
                text = f"first() was given {shown(wait)}: expected waits"
                step = "pass client.sleep(5), queue.get(), client.join(task), each by itself"
                raise table.refused(text, step)
            wait._is_awaited = True
            self.is_idle |= wait.is_idle
        self._waits = waits
        self.reason = " or ".join([wait.reason for wait in waits])

    def arm(self, seat: Seat, wrap: Callable[[Any], Any]) -> None:
        for index, wait in enumerate(self._waits):
            wait.note()
            wait.arm(seat, lambda value, index=index: wrap((index, value)))  # type: ignore[misc]

    def note(self) -> None:
        for wait in self._waits:
            wait.note()

    def disarm(self, seat: Seat) -> None:
        for wait in self._waits:
            wait.note()
            wait.disarm(seat)
