"""Waits inside an actor: a timer, one that is set anew, the end of a task, a signal, a queue, the
first of several."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Generator, Sequence
from typing import Any

from testbed.turns.life import Seat
from testbed.turns.option import RESUME, WAKE, Option
from testbed.turns.table import TRAP, Table


class Waitable:
    """Something a task can wait for, by itself or as one of several (`client.first`).

    A subclass offers, in `arm`, the Options that would end the wait, and forgets the task in
    `disarm`. Whatever ends it passes its value through `wrap`, which knows which wait of several
    it was.
    """

    reason = ""
    """What the task waits for, as a stuck World tells it."""
    is_idle = False
    """Whether it may rightly never end, as for a watch or an inbox of a quiet actor."""

    def __init__(self, table: Table) -> None:
        self.table = table

    def arm(self, seat: Seat, wrap: Callable[[Any], Any]) -> None:
        """The task begins to wait."""

    def disarm(self, seat: Seat) -> None:
        """The task has stopped waiting, whichever way."""

    def note(self) -> None:
        """Called when it begins and stops being one of several: mark what may end it."""

    def __await__(self) -> Generator[object, Any, Any]:
        table = self.table
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


class Sleep(Waitable):
    """The wait for a timer, by the name a race file speaks of it."""

    def __init__(self, table: Table, ms: int, name: str) -> None:
        super().__init__(table)
        if isinstance(ms, float):
            raise table.refused(f"sleep({ms!r}, {name!r}): expected whole milliseconds")
        self.ms = ms
        self.name = name
        self.reason = f"timer {name}"

    def arm(self, seat: Seat, wrap: Callable[[Any], Any]) -> None:
        table = self.table
        due_ms = table.now_ms + max(self.ms, 0)
        table.offer_turn(seat, WAKE, self.name, due_ms, lambda: table.end_wait(seat, wrap(None)))


class Alarm:
    """A timer that is set by one task, and may be set anew while another waits for it. A wait for
    one that is not set is a rest."""

    def __init__(self, table: Table, path: str, name: str) -> None:
        self._table = table
        self._key = f"alarm:{path}"
        self.name = name
        """How a race file speaks of it."""
        self.due_ms: int | None = None
        self.waiting: _Ring | None = None

    def set(self, ms: int | None) -> None:
        """Let it go off after so many milliseconds, and at no other time; None: not at all."""
        table = self._table
        if isinstance(ms, float):
            raise table.refused(f"alarm {self.name!r} set to {ms!r}: expected whole milliseconds")
        due_ms = None if ms is None else table.now_ms + max(ms, 0)
        if due_ms != self.due_ms:
            table.marks.writes.append(self._key)
            self.due_ms = due_ms
            if self.waiting is not None:
                self.waiting.look()

    def wait(self) -> Waitable:
        """Wait until it goes off; from then on it is not set."""
        return _Ring(self._table, self, self._key)


class _Ring(Waitable):
    """The wait for an alarm: offered at the time that it is set to."""

    is_idle = True

    def __init__(self, table: Table, alarm: Alarm, key: str) -> None:
        super().__init__(table)
        self.alarm = alarm
        self.key = key
        self.reason = f"timer {alarm.name}"
        self._seat: Seat | None = None
        self._wrap: Callable[[Any], Any] = _as_it_is
        self._offered: Option | None = None

    def arm(self, seat: Seat, wrap: Callable[[Any], Any]) -> None:
        alarm = self.alarm
        if alarm.waiting is not None:
            raise self.table.refused(f"{seat.path} and another task wait for one {self.reason}")
        self.table.marks.reads.append(self.key)
        self._seat, self._wrap, alarm.waiting = seat, wrap, self
        self.look()

    def look(self) -> None:
        """Offer its end at the time it is set to by now, and at no other."""
        seat, due_ms = self._seat, self.alarm.due_ms
        if self._offered is not None:
            self.table.withdraw(self._offered)
            self._offered = None
        if due_ms is not None and seat is not None and seat.life.is_alive:
            name = self.alarm.name
            self._offered = self.table.offer_turn(seat, WAKE, name, due_ms, self._end)

    def disarm(self, seat: Seat) -> None:
        self.table.marks.reads.append(self.key)
        if self.alarm.waiting is self:
            self.alarm.waiting = None

    def _end(self) -> Seat:
        assert self._seat is not None
        self.table.marks.writes.append(self.key)
        self.alarm.due_ms = self._offered = None
        return self.table.end_wait(self._seat, self._wrap(None))


class Join(Waitable):
    """The wait for the end of another task of the same actor."""

    def __init__(self, table: Table, target: Seat) -> None:
        super().__init__(table)
        self.target = target
        self.reason = f"join {target.path}"

    def arm(self, seat: Seat, wrap: Callable[[Any], Any]) -> None:
        table, target = self.table, self.target
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
        self.table.marks.reads.append(self.target.end_key)
        self.target.joined_by.pop(seat, None)


class Signal:
    """Set or not; a wait for it ends when it is set, each in a turn of its own."""

    def __init__(self, table: Table, path: str) -> None:
        self._table = table
        self._key = f"signal:{path}"
        self._waiting: dict[_Place, None] = {}
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
        """From now on waits for it wait."""
        self._turn_to(False)

    def _turn_to(self, is_set: bool) -> None:
        self._table.marks.writes.append(self._key)
        self._is_set = is_set
        for place in list(self._waiting):
            place.look()

    def wait(self) -> Waitable:
        """Wait until it is set."""
        return _Line(self._table, self._key, self._waiting, lambda: self._is_set, lambda: None)


class Queue:
    """First in, first out, without a bound; each waiting task is offered what is there."""

    def __init__(self, table: Table, path: str, is_idle: bool) -> None:
        self._table = table
        self._key = f"queue:{path}"
        self._is_idle = is_idle
        self._waiting: dict[_Place, None] = {}
        self._items: deque[Any] = deque()

    def __len__(self) -> int:
        self._table.marks.reads.append(self._key)
        return len(self._items)

    def put(self, item: Any) -> None:
        """Add it at the end; every waiting task may be the one that takes it."""
        self._table.marks.writes.append(self._key)
        self._items.append(item)
        for place in list(self._waiting):
            place.look()

    def get(self) -> Waitable:
        """Wait for the oldest item, and take it."""
        line = _Line(self._table, self._key, self._waiting, lambda: bool(self._items), self._take)
        line.is_idle = self._is_idle
        return line

    def _take(self) -> Any:
        self._table.marks.writes.append(self._key)
        item = self._items.popleft()
        for place in list(self._waiting):
            place.look()
        return item


class _Line(Waitable):
    """The wait for a signal or a queue: offered as long as there is something to end it."""

    def __init__(
        self,
        table: Table,
        key: str,
        waiting: dict[_Place, None],
        is_there: Callable[[], bool],
        take: Callable[[], Any],
    ) -> None:
        super().__init__(table)
        self.reason = key.replace(":", " ", 1)
        self.key = key
        self.waiting = waiting
        self.is_there = is_there
        self.take = take
        self._places: dict[Seat, _Place] = {}

    def arm(self, seat: Seat, wrap: Callable[[Any], Any]) -> None:
        if seat in self._places:
            raise self.table.refused(f"{seat.path} waits for one thing twice: {self.reason}")
        self.table.marks.reads.append(self.key)
        place = self._places[seat] = _Place(self, seat, wrap)
        self.waiting[place] = None
        place.look()

    def disarm(self, seat: Seat) -> None:
        self.table.marks.reads.append(self.key)
        place = self._places.pop(seat, None)
        if place is not None:
            self.waiting.pop(place, None)


class _Place:
    """One task that waits in a line; the same wait may be shared by several tasks."""

    def __init__(self, line: _Line, seat: Seat, wrap: Callable[[Any], Any]) -> None:
        self._line = line
        self._seat = seat
        self._wrap = wrap
        self._offered: Option | None = None

    def look(self) -> None:
        """Offer to go on, or take that back, as things are now. The tasks of a dead life, whose
        `finally` may still set or put something, are offered nothing any more."""
        line, seat = self._line, self._seat
        if not line.is_there():
            if self._offered is not None:
                line.table.withdraw(self._offered)
                self._offered = None
        elif self._offered is None and seat.life.is_alive:
            self._offered = line.table.offer_turn(seat, RESUME, line.reason, 0, self._end)

    def _end(self) -> Seat:
        line = self._line
        line.table.marks.reads.append(line.key)
        self._offered = None
        del line.waiting[self]
        return line.table.end_wait(self._seat, self._wrap(line.take()))


class First(Waitable):
    """The wait for whichever of several ends first; the Options of the others are withdrawn."""

    def __init__(self, table: Table, waits: Sequence[Waitable]) -> None:
        super().__init__(table)
        if not waits:
            raise table.refused("first() was given nothing to wait for")
        self.waits = waits
        self.reason = " or ".join(wait.reason for wait in waits)
        self.is_idle = any(wait.is_idle for wait in waits)

    def arm(self, seat: Seat, wrap: Callable[[Any], Any]) -> None:
        for place, wait in enumerate(self.waits):
            wait.note()
            wait.arm(seat, lambda value, place=place: wrap((place, value)))  # type: ignore[misc]

    def note(self) -> None:
        for wait in self.waits:
            wait.note()

    def disarm(self, seat: Seat) -> None:
        for wait in self.waits:
            wait.note()
            wait.disarm(seat)
