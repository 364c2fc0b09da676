"""Watching: the Client where a lap is being proved; its clock gives watched numbers.

What an actor hands to the testbed itself, such as how long it sleeps, is a plain number again.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping
from typing import Any, NoReturn

from testbed.client.client import Client
from testbed.client.wire import Wire
from testbed.objects.watched import Lookout, plain, watched
from testbed.store.endpoint import Operation
from testbed.turns.because import Because
from testbed.turns.life import Life
from testbed.turns.table import Table
from testbed.turns.timers import Alarm
from testbed.turns.waits import Waitable


class WatchingClient(Client):
    """A Client whose times are watched as soon as its Lookout is on."""

    def __init__(self, sight: Lookout, table: Table, wire: Wire, life: Life) -> None:
        super().__init__(table, wire, life)
        self._sight = sight

    def now(self) -> int:
        return self._seen(super().now)

    def elapsed(self) -> int:
        return self._seen(super().elapsed)

    # A look at a clock that is watched says in its comparisons what it has told. Any other look,
    # as through what is asked nearby, still counts as one.
    def _seen(self, look: Callable[[], int]) -> int:
        if not self._sight.is_on:
            return look()
        before = self._life.saw_time_at
        ms = look()
        self._life.saw_time_at = before
        return watched(ms, self._sight, is_clock=True)

    def sleep(self, ms: int, *given: Any, **more: Any) -> Waitable:
        return super().sleep(_span(ms), *given, **more)

    def alarm(self, name: str, *, idle: bool = False) -> Alarm:
        apart = not self._life.role.shares_memory
        path = f"{self.name}/{name}"
        return _PlainAlarm(self._table, path, name, marks_looks=apart, is_idle=idle)

    def _answer_to(  # type: ignore[override]
        self, operation: Operation, timeout_ms: int | None, because: Because | None = None
    ) -> Generator[object, Any, Any]:
        return super()._answer_to(operation, _span(timeout_ms), because)

    def exit(self, again_after_ms: int | None = None) -> NoReturn:
        super().exit(_span(again_after_ms))

    def record(self, name: str, facts: Mapping[str, Any] | None = None, **more: Any) -> Because:
        given = {**facts, **more} if facts else more
        return super().record(name, {each: plain(value) for each, value in given.items()})


class _PlainAlarm(Alarm):
    """An Alarm that is set to plain numbers."""

    def set(self, ms: int | None) -> None:
        super().set(_span(ms))


def _span(ms: Any) -> Any:
    """How long something takes, as a plain number. One that is below nought counts as nought, so to
    hand it over is to compare it with that."""
    return plain(max(ms, 0)) if isinstance(ms, int) and not isinstance(ms, bool) else ms
