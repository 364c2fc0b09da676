"""Stream: one open watch, Endpoint to reader; each delivery is an Option of its own."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

from testbed.errors import ApiError, WatchBroken
from testbed.store.delivery import BOOKMARK, Delivery
from testbed.store.endpoint import Operation
from testbed.store.footprint import HISTORY, Footprint
from testbed.store.watch import Watch
from testbed.turns.life import Life, Role, Seat
from testbed.turns.option import DELIVER, Option
from testbed.turns.table import Table
from testbed.turns.waits import Waitable

BOOKMARK_MS = 60_000
"""How long after it fell behind a quiet watch is sent a bookmark (API-44)."""


class Streams:
    """All open watches of a World, and what the turn under way has handed to their readers."""

    def __init__(self, table: Table) -> None:
        self.table = table
        self.open: dict[Stream, None] = {}
        self.delivered: list[tuple[Stream, Delivery]] = []
        """For invariants to look at; emptied when they have."""
        self.commits: dict[int, tuple[int, int]] = {}
        """Revision to (Step, virtual time) of its commit."""
        self.fed: dict[tuple[str, int], int] = {}
        """Endpoint and serial of a Change to the Step in which a lagging cursor read it."""
        self.feeding = 0
        """The Step in which one does so right now."""

    def made_by(self, delivery: Delivery, endpoint: str) -> tuple[int, int]:
        """The Step that made a delivery possible, and the time of the commit it tells of."""
        change = delivery.change
        here = (self.table.step, self.table.now_ms)
        if change is None:
            return here
        step, committed_ms = self.commits.get(change.revision, here)
        return self.fed.get((endpoint, change.serial), self.feeding or step), committed_ms


class Server(Protocol):
    """The place of an Endpoint on the wire."""

    name: str
    key: str
    """Its key in a Footprint."""


class Stream:
    """One open watch, as its reader holds it: `await stream.next()` gives the next Delivery."""

    def __init__(
        self, streams: Streams, server: Server, watch: Watch, life: Life, operation: Operation
    ) -> None:
        self.streams = streams
        self.server = server
        """The place of its Endpoint on the wire."""
        self.watch = watch
        self.life = life
        self.plural = plural = operation.plural
        taken = {stream.path for stream in life.streams}
        name = f"{life.role.name}/watch-{plural}"
        nth = next(n for n in range(1, len(taken) + 2) if _nth_path(name, n) not in taken)
        self.path = _nth_path(name, nth)
        """The process its deliveries belong to; free again when it is closed."""
        # The two ends of a first-in-first-out line: what is committed is added at the tail, and a
        # delivery takes from the head, so neither need know of the other.
        self.tail = watch.key = f"stream:{self.path}"
        self.head = f"{self.tail}/head"
        self._named = f"watches:{name}"
        self._hears = operation.view.logs if watch.cursor.follows else {watch.cursor.key}
        # What is committed before it opens it hears just as well as what is committed after.
        follows = watch.cursor.follows
        streams.table.marks.writes += (self.head, self._named, *(() if follows else (self.tail,)))
        for change in watch.queue:
            watch.cursor.store.heard(change, self.tail)
        self.error: ApiError | None = None
        """Why it was broken; told once everything else about it is withdrawn."""
        self.opened_at = watch.since
        self._reader: tuple[Seat, Callable[[Any], Any]] | None = None
        self._asked_at = 0
        self._offered: Option | None = None
        self._owing_since: tuple[int, int] | None = None
        """The Step and the time at which it fell behind; None when it is not."""
        watch.on_ready = lambda _: self._look()
        watch.on_owing = lambda _: self._owe()
        life.streams.append(self)
        streams.open[self] = None
        if watch.owes_bookmark:
            self._owe()

    @property
    def said(self) -> str:
        """What a fault that strikes it is said to strike: `notes to alpha`."""
        name = self.life.role.name
        return f"{self.plural} to {name}{self.path.removeprefix(f'{name}/watch-{self.plural}')}"

    @property
    def is_silent(self) -> bool:
        """Whether its reader waits, and nothing at all is on its way to him."""
        return self._reader is not None and self._offered is None

    def next(self) -> NextDelivery:
        """The next Delivery, in order and gap-free; raises WatchBroken or Expired at its end."""
        return NextDelivery(self)

    def close(self) -> None:
        """Nothing more is delivered; whoever reads on is told."""
        self.break_off(WatchBroken(f"the watch of {self.plural} was closed by its reader"))

    def break_off(self, error: ApiError) -> None:
        """Close it and tell its reader so, now or when it next asks: never silence."""
        self.watch.close()
        self._withdraw()
        self._mark_all()
        self.note()
        self.streams.table.marks.reads.append(self.life.role.lives_key)
        if self in self.streams.open:
            del self.streams.open[self]
            self.life.streams.remove(self)
        self.error = self.error or error
        if self.life.is_alive:
            self._look()

    def read(self, seat: Seat, wrap: Callable[[Any], Any]) -> None:
        """The reader waits: offer what there is to deliver."""
        if self._reader is not None:
            readers = f"{self._reader[0].path}, {seat.path}"
            raise self.streams.table.refused(f"{self.path} has two readers: {readers}")
        self._reader = (seat, wrap)
        self._asked_at = self.streams.table.step
        # Another Option is offered if it was closed, or if a compaction was faster.
        self.streams.table.marks.reads += (self.head, HISTORY)
        self._look()

    def leave(self) -> None:
        """The reader has gone on, or waits for something else."""
        self._withdraw()
        if self._reader is not None:
            self._reader = None
            self.note()

    def note(self) -> None:
        """Mark whatever may add to it: the order of that and of this turn matters."""
        self.streams.table.marks.reads.extend(sorted(self._hears))

    def may_end(self) -> Footprint:
        """What closing it touches."""
        reads = frozenset({*self._hears, self.life.role.lives_key})
        return Footprint(reads, frozenset({self.tail, self.head, self._named}))

    def _mark_all(self) -> None:
        self.streams.table.marks.writes += (self.tail, self.head, self._named)

    def _withdraw(self) -> None:
        if self._offered is not None:
            self.streams.table.withdraw(self._offered)
            self._offered = None

    def _owe(self) -> None:
        self._owing_since = (self.streams.table.step, self.streams.table.now_ms)
        self._look()

    def _look(self) -> None:
        """Offer the waiting reader: why the watch ended, its next Change, or a bookmark."""
        if self._reader is None:
            return
        offered = self._offered
        if offered is not None and offered.place is not None and offered.change != BOOKMARK:
            return
        if self.error is not None:
            self._offer("BROKEN", self.plural, self.streams.table.step, 0)
            return
        delivery = self.watch.peek()
        if delivery is not None:
            step, committed_ms = self.streams.made_by(delivery, self.server.name)
            due = committed_ms + _lag_of(self.life.role, self.plural, committed_ms)
            key = delivery.change.key if delivery.change is not None else self.plural
            self._offer(delivery.type, key, step, due)
        elif self._owing_since is not None and offered is None:
            step, since_ms = self._owing_since
            self._offer(BOOKMARK, self.plural, step, since_ms + BOOKMARK_MS)

    def _offer(self, change: str, key: str, step: int, due_ms: int) -> None:
        """It was made possible by that Step, and by the one in which its reader asked."""
        assert self._reader is not None
        self._withdraw()
        seat, _ = self._reader
        role = self.life.role
        nth = self.life.next_nth((DELIVER, self.path, "", key, change))
        asked = self._asked_at
        causes = (step,) if step == asked else (min(step, asked), max(step, asked))
        option = Option(DELIVER, self.path, self._deliver, causes, due_ms, role.name, seat)
        option.key, option.change, option.nth = key, change, nth
        option.may_touch = self._may
        option.source = self
        self._offered = option
        self.streams.table.offer(option)

    def _may(self) -> Footprint:
        cache = f"cache:{self.life.role.name}/{self.plural}"
        return Footprint(frozenset({HISTORY}), self.life.role.may.writes | {cache, self.head})

    def _deliver(self) -> Seat:
        """Hand the reader what was offered, in one Option: the stream is the network."""
        offered, reader, table = self._offered, self._reader, self.streams.table
        assert offered is not None
        assert reader is not None
        self._offered = self._reader = self._owing_since = None
        seat, wrap = reader
        self.life.nth(DELIVER, self.path, "", offered.key, offered.change)
        table.marks.reads.append(HISTORY)
        table.marks.writes.append(self.head)
        if self.error is not None:
            table.note_outcome("", self.error.reason)
            return table.end_wait(seat, error=self.error)
        bookmark = offered.change == BOOKMARK
        if bookmark:
            table.marks.reads += (self.tail, *sorted(self._hears))
        delivery = self.watch.take_bookmark() if bookmark else self.watch.take()
        refusal = delivery.error.reason if delivery.error is not None else ""
        table.note_outcome(str(delivery.revision), refusal)
        self.streams.delivered.append((self, delivery))
        if delivery.error is not None:
            self.break_off(delivery.error)
            return table.end_wait(seat, error=delivery.error)
        return table.end_wait(seat, wrap(delivery))


class NextDelivery(Waitable):
    """The wait for the next Delivery of one Stream."""

    is_idle = True

    def __init__(self, stream: Stream) -> None:
        super().__init__(stream.streams.table)
        self.stream = stream
        self.reason = f"watch {stream.plural}"

    def note(self) -> None:
        self.stream.note()

    def arm(self, seat: Seat, wrap: Callable[[Any], Any]) -> None:
        self.stream.read(seat, wrap)

    def disarm(self, seat: Seat) -> None:
        self.stream.leave()


def _nth_path(name: str, nth: int) -> str:
    return name if nth == 1 else f"{name}#{nth}"


def _lag_of(role: Role, plural: str, committed_ms: int) -> int:
    """How late deliveries of what was committed then come to that actor."""
    by_ms, until_ms = role.lags.get(plural, (0, 0))
    return by_ms if committed_ms < until_ms else 0
