"""Timers of an actor: a sleep, and an alarm that may be set again."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from testbed.turns.life import Seat
from testbed.turns.option import WAKE
from testbed.turns.table import Table
from testbed.turns.waits import Parked, Waitable


class Sleep(Waitable):
    """The wait for a timer; its name is what race files call the timer."""

    def __init__(self, table: Table, ms: int, name: str, is_idle: bool) -> None:
        super().__init__(table)
        if not isinstance(ms, int):
            raise table.refused(
                f"sleep({ms!r}, {name!r}): expected whole milliseconds",
                "write 1500 for 1.5 seconds",
            )
        self._ms = ms
        self._name = name
        self._is_background = is_idle
        self.reason = f"timer {name}"

    def arm(self, seat: Seat, wrap: Callable[[Any], Any]) -> None:
        table = self._table
        due_ms = table.pending.now_ms + max(self._ms, 0)
        timer = table.offer_turn(
            seat, WAKE, self._name, due_ms, lambda: table.end_wait(seat, wrap(None))
        )
        timer.is_idle = self._is_background


class Alarm:
    """A timer that one task sets, and may set again while another task waits for it. To wait for
    an alarm that is not set is no deadlock: the World may come to rest."""

    def __init__(
        self, table: Table, path: str, name: str, *, marks_looks: bool = True, is_idle: bool = False
    ) -> None:
        """`marks_looks` may be False if every turn of its actor writes one key anyway."""
        self._table = table
        self._is_background = is_idle
        self._marks_looks = marks_looks
        self._key = f"alarm:{path}"
        self.name = name
        """What race files call it."""
        self._reason = f"timer {name}"
        self._due_ms: int | None = None
        self._waiting: _Ring | None = None

    @property
    def due_ms(self) -> int | None:
        """When it goes off; None if it is not set."""
        self._look()
        return self._due_ms

    def set(self, ms: int | None) -> None:
        """Let it go off after that many milliseconds, whatever was set before; None: not at all."""
        table = self._table
        if not (ms is None or isinstance(ms, int)):
            raise table.refused(
                f"alarm {self.name!r} set to {ms!r}: expected whole milliseconds",
                "write 1500 for 1.5 seconds, or None for never",
            )
        due_ms = None if ms is None else table.pending.now_ms + (ms if ms > 0 else 0)
        if due_ms == self._due_ms:
            self._look()
            return
        table.marks.writes.append(self._key)
        self._due_ms = due_ms
        if self._waiting is not None:
            self._waiting.look()

    def _look(self) -> None:
        if self._marks_looks and self._table.running is not None:
            self._table.marks.reads.append(self._key)

    def wait(self) -> Waitable:
        """Wait until it goes off; then it is no longer set."""
        return _Ring(self._table, self, self._key)


class _Ring(Waitable):
    """The wait for an alarm; its end is offered for the time that the alarm is set to."""

    is_idle = True

    def __init__(self, table: Table, alarm: Alarm, key: str) -> None:
        super().__init__(table)
        self._alarm = alarm
        self._key = key
        self.reason = alarm._reason
        self._place: Parked | None = None

    def arm(self, seat: Seat, wrap: Callable[[Any], Any]) -> None:
        alarm = self._alarm
        if alarm._waiting is not None:
            raise self._table.refused(
                f"{seat.path} and another task wait for one {self.reason}",
                "make an alarm for each task",
            )
        self._table.marks.reads.append(self._key)
        self._place, alarm._waiting = Parked(self._table, seat, wrap), self
        self.look()

    def look(self) -> None:
        """Offer its end for the time that the alarm is set to now, and for no other."""
        place, due_ms = self._place, self._alarm._due_ms
        assert place is not None
        place.take_back()
        if due_ms is not None:
            alarm = self._alarm
            place.offer(WAKE, alarm.name, due_ms, self._end, is_idle=alarm._is_background)

    def disarm(self, seat: Seat) -> None:
        self._table.marks.reads.append(self._key)
        if self._alarm._waiting is self:
            self._alarm._waiting = None

    def _end(self) -> Seat:
        assert self._place is not None
        self._table.marks.writes.append(self._key)
        self._alarm._due_ms = None
        return self._place.end(None)
