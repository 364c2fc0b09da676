"""OpenWatch: one open watch, from its Endpoint to its reader; each delivery is one Option."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Protocol

from testbed.client.latency import Latency, latency_of
from testbed.errors import ApiError, WatchBroken
from testbed.objects.meta import looked, text_of
from testbed.store.change import Change
from testbed.store.delivery import BOOKMARK, Delivery
from testbed.store.endpoint import Operation
from testbed.store.footprint import HISTORY, Footprint
from testbed.store.watch import Watch
from testbed.turns.acting import act_while_parked
from testbed.turns.life import Life, Seat
from testbed.turns.option import DELIVER, Option
from testbed.turns.table import Table

BOOKMARK_MS = 60_000
"""How long after it fell behind a quiet watch is due a bookmark (API-44)."""


class Streams:
    """All open watches of a World, and what was delivered in the turn under way."""

    def __init__(self, table: Table) -> None:
        self.table = table
        self.open: dict[OpenWatch, None] = {}
        self.latencies: list[Latency] = []
        """What the scenario states of how long requests, answers and deliveries take."""
        self.delivered: list[tuple[OpenWatch, Delivery]] = []
        """The deliveries of this turn; emptied when the invariants have looked."""
        self.commits: dict[int, tuple[int, int]] = {}
        """By revision: the Step and the virtual time of its commit."""
        self.fed: dict[tuple[str, int], int] = {}
        """By Endpoint and serial of a Change: the Step in which a lagging cursor read it."""
        self.opened: dict[str, int] = {}
        """How many watches have had each path."""
        self.feeding = 0
        """The Step under way, while a lagging cursor reads a Change in it; else 0."""

    def made_by(self, delivery: Delivery, endpoint: str) -> tuple[int, int]:
        """The Step that made a delivery possible, and the time of the commit that it reports."""
        change = delivery._change
        here = (self.table.step, self.table.pending.now_ms)
        if change is None:
            return here
        step, committed_ms = self.commits.get(change.revision, here)
        step = self.feeding or step
        if self.fed:
            step = self.fed.get((endpoint, change.serial), step)
        return step, committed_ms


Apply = Callable[[Delivery], None]
Reader = tuple[Seat, Callable[[Any], Any], Apply | None]
"""The task that waits; what a delivery passes through on its way to it; and, if not None, what
deliveries are handed to instead, while the task stays parked."""


class Server(Protocol):
    """The place of an Endpoint on the wire."""

    name: str
    key: str
    """Its key in a Footprint."""


# An OpenWatch offers one Option at a time, and only while its reader waits: why the watch has
# ended, or the next Change, or a bookmark. `_look` works out which whenever something may have
# changed.
# What is offered is taken from the watch in the turn that delivers it, not before; so a closed or
# compacted watch loses nothing silently, and its reader always learns that it has ended.
class OpenWatch:
    """One open watch. Its reader holds a Stream, which shows nothing else of it."""

    def __init__(
        self, streams: Streams, server: Server, watch: Watch, life: Life, operation: Operation
    ) -> None:
        self.streams = streams
        self._table = table = streams.table
        self.server = server
        """The place of its Endpoint on the wire."""
        self.watch = watch
        self.life = life
        self.plural = plural = operation.plural
        actor = life.role.name
        self._latency_ms = latency_of(
            streams.latencies, "deliver_ms", operation, actor, server.name
        )
        name = f"{actor}/watch-{plural}"
        self.path = _free_path(name, {stream.path for stream in life.streams})
        """The path of its deliveries; another watch may have it once this one is closed."""
        # Footprint keys for the two ends of a queue: a commit adds at the tail, a delivery takes
        # from the head. With two keys a commit and a delivery commute.
        # Each watch has its own: what a later one of this path hears says nothing of an earlier.
        opened = streams.opened[self.path] = streams.opened.get(self.path, 0) + 1
        mine = f"{self.path}~{opened}" if opened > 1 else self.path
        self.tail = watch.key = f"stream:{mine}"
        self.head = f"{self.tail}/head"
        self._named = f"watches:{name}"
        # The keys of all that may add to it: the logs that it selects, or its server's cursor.
        cursor = watch.cursor
        self._listens_to = sorted(operation.view.logs) if cursor.follows else [cursor.key]
        # It also delivers what was committed since its revision, before it was opened. So the order
        # of those commits matters now, too.
        table.marks.writes += (self.head, self._named)
        for change in watch.queue:
            cursor.store.heard(change, self.tail)
        self._since = operation.revision
        self._shows_bookmarks = False
        self._error: ApiError | None = None
        self._reader: Reader | None = None
        """Who waits for a delivery, if anyone does."""
        self._asked_at = 0
        """The Step in which that began to wait."""
        self._offered: Option | None = None
        self._owing_since: tuple[int, int] | None = None
        """The Step and the time at which it came to owe a bookmark; None if it owes none."""
        watch.on_ready = self._look
        watch.on_owing = self._owe
        life.streams.append(self)
        streams.open[self] = None
        if watch.owes_bookmark:
            self._owe()

    @property
    def title(self) -> str:
        """What a fault calls it: `notes to alpha`."""
        name = self.life.role.name
        return f"{self.plural} to {name}{self.path.removeprefix(f'{name}/watch-{self.plural}')}"

    @property
    def error(self) -> ApiError | None:
        """Why it has ended; the next and last thing that its reader is given."""
        self._mark_look()
        return self._error

    @property
    def opened_at(self) -> int:
        """The revision after which it began, for the testbed."""
        looked()
        return self.watch.since

    @property
    def is_silent(self) -> bool:
        """Whether its reader waits and nothing at all is in flight to it."""
        self._mark_look()
        return self._reader is not None and self._offered is None

    def close(self) -> None:
        """End the watch; to read on then raises WatchBroken."""
        self.break_off(WatchBroken(f"the watch of {self.plural} was closed by its reader"))

    def break_off(self, error: ApiError) -> None:
        """End the watch with an error. Its reader gets the error now, or when it next waits; it is
        never left to wait in silence."""
        self.watch.close()
        self.watch.cursor.store.listeners.remove(self.plural, self._pass_over)
        self._withdraw()
        self._mark_all()
        self.note()
        self._table.marks.reads += (self.life.role.lives_key, self.server.key)
        if self in self.streams.open:
            del self.streams.open[self]
            self.life.streams.remove(self)
        self._error = self._error or error
        if self.life.is_alive:
            self._look()

    def read(self, reader: Reader) -> None:
        """Let a task be the reader, and offer it what there is to deliver."""
        # One that has ended shows no more bookmarks, and nothing would stop it listening.
        is_new = self._error is None and not self._shows_bookmarks
        if is_new and reader[-1] is None and self.watch.bookmarks:
            self._show_bookmarks()
        if self._reader is not None:
            readers = f"{self._reader[0].path}, {reader[0].path}"
            raise self._table.refused(
                f"{self.path} has two readers: {readers}",
                "let one task read it, and hand on what it reads by a client.queue(…)",
            )
        self._await(reader)

    def _await(self, reader: Reader) -> None:
        table = self._table
        self._reader = reader
        self._asked_at = table.step
        # What is offered here depends on whether it was closed or compacted before.
        table.marks.reads += (self.head, HISTORY)
        self._look()

    # Whether a bookmark is owed depends on the order of what the watch shows and of what it does
    # not. A Cache does nothing when one comes. Any other reader sees it, or sees that none comes.
    def _show_bookmarks(self) -> None:
        """Have what the watch does not show keep its order, too."""
        self._shows_bookmarks = True
        store = self.watch.cursor.store
        for change in store.log(self.plural).after(self.watch.since):
            self._pass_over(change)
        store.listeners.add(
            self.plural, self._pass_over, None, Footprint(writes=frozenset({self.tail}))
        )
        # A list of some fields commutes with commits of others, and the revision of an object says
        # nothing of what was not shown.
        if self.watch.view.fields is not None or self._since._is_commit:
            store.look_back()

    def _pass_over(self, change: Change) -> None:
        if not self.watch.view.delivers(change):
            self.watch.cursor.store.heard(change, self.tail)

    def leave(self) -> None:
        """Forget the reader, which no longer waits; what was offered to it is withdrawn."""
        if self._reader is not None:
            self._withdraw()
            self._reader = None
            self.note()

    def note(self) -> None:
        """Mark all that may add to it as read, since the order of that and of this turn matters."""
        self._table.marks.reads += self._listens_to

    def may_end(self) -> Footprint:
        """What closing it touches. It reads the Endpoint's key, since a crash of that closes it."""
        reads = frozenset({*self._listens_to, self.life.role.lives_key, self.server.key})
        return Footprint(reads, frozenset({self.tail, self.head, self._named}))

    def _mark_look(self) -> None:
        """Mark that its reader's code has looked at it, if it is that which looks."""
        table = self._table
        if table.running is not None:
            table.marks.reads += (self.head, self.tail, *self._listens_to)

    def _mark_all(self) -> None:
        self._table.marks.writes += (self.tail, self.head, self._named)

    def _withdraw(self) -> None:
        if self._offered is not None:
            self._table.withdraw(self._offered)
            self._offered = None

    def _owe(self, _: Watch | None = None) -> None:
        self._owing_since = (self._table.step, self._table.now_ms)
        self._look()

    def _look(self, _: Watch | None = None) -> None:
        """Offer the waiting reader why the watch has ended, its next Change, or a bookmark.

        A Change that is offered stays offered. A bookmark gives way to a Change.
        """
        if self._reader is None:
            return
        offered = self._offered
        if offered is not None and offered.place is not None and offered.change != BOOKMARK:
            return
        if self._error is not None:
            self._offer("BROKEN", self.plural, self._table.step, 0)
            return
        watch = self.watch
        # Most looks find nothing, as after each delivery to a Cache.
        delivery = watch.peek() if watch.queue or watch._next is not None else None
        if delivery is not None:
            step, committed_ms = self.streams.made_by(delivery, self.server.name)
            due_ms = committed_ms + self._latency_ms
            if lags := self.life.role.lags:
                due_ms += _lag_of(lags, self.plural, committed_ms)
            change = delivery._change
            self._offer(delivery.type, self.plural if change is None else change.key, step, due_ms)
        elif self._owing_since is not None and offered is None:
            step, since_ms = self._owing_since
            self._offer(BOOKMARK, self.plural, step, since_ms + BOOKMARK_MS)

    def _offer(self, change: str, key: str, step: int, due_ms: int) -> None:
        """Offer a delivery. Its causes are that Step, and the one in which its reader asked."""
        assert self._reader is not None
        if self._offered is not None:
            self._withdraw()
        seat = self._reader[0]
        life, path, asked = self.life, self.path, self._asked_at
        if step == asked:
            causes: tuple[int, ...] = (step,)
        else:
            causes = (step, asked) if step < asked else (asked, step)
        option = Option(DELIVER, path, self._deliver, causes, due_ms, life.role.name, seat)
        option.key, option.change = key, change
        option.nth = life.next_nth((DELIVER, path, "", key, change))
        option.may_touch = self._may
        option.source = self
        self._offered = option
        self._table.offer(option)

    def _may(self) -> Footprint:
        cache = f"cache:{self.life.role.name}/{self.plural}"
        return Footprint(frozenset({HISTORY}), self.life.role.may.writes | {cache, self.head})

    def _deliver(self) -> Seat | None:
        """Give the reader what was offered, and end its wait. None: it waits again already."""
        offered, reader, table = self._offered, self._reader, self._table
        assert offered is not None
        assert reader is not None
        self._offered = self._reader = self._owing_since = None
        seat, wrap, apply = reader
        self.life.nth(DELIVER, self.path, "", offered.key, offered.change)
        marks, turn = table.marks, table.turn
        marks.reads.append(HISTORY)
        marks.writes.append(self.head)
        if self._error is not None:
            table.note_outcome("", self._error.reason)
            return table.end_wait(seat, error=self._error)
        if offered.change == BOOKMARK:
            marks.reads += (self.tail, *self._listens_to)
            delivery = self.watch.take_bookmark()
        else:
            delivery = self.watch.take()
        error = delivery.error
        if turn is not None:
            turn.revision = text_of(delivery.revision)
            turn.outcome = "" if error is None else error.reason
        self.streams.delivered.append((self, delivery))
        if error is not None:
            self.break_off(error)
            return table.end_wait(seat, error=error)
        if apply is None:
            return table.end_wait(seat, wrap(delivery))
        table.end_wait(seat)
        if not act_while_parked(table, seat, apply, delivery):
            return seat
        table.wait(seat, seat.waits_for, is_idle=True)
        self._await(reader)
        return None


def _free_path(name: str, taken: set[str]) -> str:
    path, nth = name, 1
    while path in taken:
        nth += 1
        path = f"{name}#{nth}"
    return path


def _lag_of(lags: Mapping[str, tuple[int, int]], plural: str, committed_ms: int) -> int:
    """How late deliveries of that kind come, of what was committed at that time."""
    by_ms, until_ms = lags.get(plural, (0, 0))
    return by_ms if committed_ms < until_ms else 0
