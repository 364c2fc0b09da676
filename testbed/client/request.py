"""Request: one Operation in flight. Post: the place of an Endpoint on the wire."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

from testbed.client.handed import SETTLED, handed, refused
from testbed.client.latency import Latency, latency_of
from testbed.client.open_watch import OpenWatch
from testbed.client.request_counts import RequestCounts
from testbed.errors import ApiError
from testbed.objects.meta import LOOKED, text_of
from testbed.store.endpoint import Endpoint, Handler, Operation, Pause, creator_of, marks_memory
from testbed.store.footprint import HISTORY, LOG, NOTHING, Footprint, Marks
from testbed.store.store_endpoint import VERBS
from testbed.store.watch import Cursor, Watch
from testbed.turns.life import Seat
from testbed.turns.option import ANSWER, SERVE, Option, request_key
from testbed.turns.table import Table


class Post:
    """The place of an Endpoint on the wire: whether it is up, and the requests that it has."""

    def __init__(self, endpoint: Endpoint) -> None:
        self.endpoint = endpoint
        self.name = endpoint.name
        self.key = f"endpoint:{endpoint.name}"
        """Its key in a Footprint: written when it goes down and comes back, read by all that
        crosses the wire to it or from it."""
        self.memory = () if marks_memory(endpoint) else (f"memory:{endpoint.name}",)
        """What each part that it serves writes, unless it marks what it remembers by itself."""
        seen = Footprint(frozenset({LOG}), frozenset({HISTORY, *self.memory}))
        self.may_see = seen if self.memory else NOTHING
        """What it touches in each turn by seeing it, unless it marks that by itself."""
        self.server = self
        """Itself, as the source of its feeds."""
        self.is_up = True
        self.requests: dict[Request, None] = {}
        """The requests that it has not answered, or that have an answer in flight, oldest first."""
        self.feeds: dict[str, tuple[Cursor, Option]] = {}
        """By kind, the cursor that lags behind, and the Option that moves it."""
        self.fed_at: dict[Cursor, int] = {}
        """The Step in which a cursor was last moved."""
        self.fed: dict[str, int] = {}
        """By kind, how often a move of its cursor has been offered."""
        self.starts = 0
        """How often its restart has been offered."""

    def in_service(self, marks: Marks, act: Callable[[], None]) -> None:
        """Let its code run. Meanwhile its reads of the Store leave marks, unless `enter` has marked
        all that it may see."""
        marks.is_served = not self.memory
        try:
            act()
        finally:
            marks.is_served = False


class Carrier(Protocol):
    """What a Request needs of the Wire that carries it."""

    table: Table
    paused: dict[Request, None]
    """Requests that are half served and wait for a cursor."""
    served: Request | None
    """The request that was served in this turn."""
    counts: RequestCounts
    """Who was served, and who was refused what."""
    latencies: list[Latency]
    """What the scenario states of how long requests take."""

    look_back: Callable[[], None]
    """Marks that the order of all commits matters to this turn."""

    def enter(self, post: Post) -> None:
        """Mark what an Endpoint may see in this turn that does not mark it by itself."""

    def pause(self, request: Request, pause: Pause) -> None:
        """Offer the next part when the Pause is over. Called when the handler has yielded it."""

    def open_stream(self, request: Request, watch: Watch) -> OpenWatch:
        """Make the reader's end of a watch that the Endpoint has opened."""


# A request takes at least two turns. `announce` offers a `serve`; in that turn the operation takes
# effect, and `answer` offers an `answer`; in that turn its caller goes on. A handler that pauses
# is served in several parts. Between any two of these turns the caller or the Endpoint may crash,
# so an operation may have taken effect although its caller never sees an answer.
class Request:
    """One Operation in flight: announced, half served, or served and not yet answered."""

    __slots__ = (
        "asked", "because", "error", "handler", "is_served", "life", "nth", "operation", "option",
        "part", "path", "pause", "post", "role", "seat", "ticket", "value", "wire",
    )  # fmt: skip

    def __init__(
        self, wire: Carrier, post: Post, operation: Operation, seat: Seat, because: int
    ) -> None:
        self.wire = wire
        self.post = post
        self.operation = operation
        self.asked = operation.asked
        """Its verb, with its subresource."""
        self.life = seat.life
        self.role = seat.life.role
        self.seat: Seat | None = seat
        """The caller that waits for the answer; None for a message."""
        self.path = seat.path
        self.ticket = seat.number
        self.because = because
        self.handler: Handler | None = None
        self.nth = 1
        """The `nth` of its sentence; its answer and its faults have the same."""
        self.part = 1
        """Which part of it is served next."""
        self.pause: Pause | None = None
        """What its handler waits for, if it is half served."""
        self.is_served = False
        """Whether its last part was served; the answer may still be in flight."""
        self.option: Option | None = None
        """The `serve` or `answer` that is offered for it."""
        self.value: Any = None
        self.error: ApiError | None = None

    def __str__(self) -> str:
        return f"the answer to {self.operation}"

    @property
    def server(self) -> Post:
        """Where it goes to."""
        return self.post

    @property
    def title(self) -> str:
        """What a fault calls it: `alpha create notes/default/n`, or `alpha/cache-notes list notes`
        if another task than the main one sent it."""
        nth = f"#{self.nth}" if self.nth > 1 else ""
        return f"{self.path.removesuffix('/main')} {self.operation}{nth}"

    @property
    def key(self) -> str:
        """The key in a Footprint that it shares with its answer and its faults."""
        return request_key(self.path, self.operation.verb, self.operation.key, self.nth)

    @property
    def is_awaited(self) -> bool:
        """Whether the task that asked still waits for this very answer."""
        seat = self.seat
        return seat is not None and seat.number == self.ticket and self.life.is_alive

    @property
    def is_untouched(self) -> bool:
        """Whether it has had no effect yet."""
        return self.part == 1 and not self.is_served

    @property
    def is_half_served(self) -> bool:
        """Whether a part of it was served, and another part is still to come."""
        return self.part > 1 and not self.is_served

    @property
    def may_open(self) -> bool:
        """Whether its answer may be a watch. An Endpoint may also open one for a verb of its
        own."""
        verb, _, _ = self.operation.verb.partition("/")
        return verb == "watch" or verb not in (*VERBS, "patch")

    @property
    def waits_for_commits(self) -> bool:
        """Whether it waits for a cursor that every commit moves."""
        cursor = None if self.pause is None else self.pause.cursor
        return cursor is not None and cursor.follows

    def may(self) -> Footprint:
        """What serving it may touch."""
        may = self.post.endpoint.may(self.operation, self.role.name)
        if self.pause is not None:
            may |= self.pause.may
        # A watch that is opened later still shows which of two commits came first. So a request
        # that may commit announces a write of that order, too.
        writes = {f"order:{key.removeprefix(LOG)}" for key in may.writes if key.startswith(LOG)}
        if self.operation.verb == "watch":
            writes.add(f"watches:{self.role.name}/watch-{self.operation.plural}")
        if self.operation.verb in ("create", "txn"):
            writes.add(f"uids:{creator_of(self.post.name, self.role.name)}")
        return may | self.post.may_see | Footprint(writes=frozenset(writes))

    def refuse(self, error: ApiError) -> None:
        """Answer it at once: its Endpoint is down. It is counted among the requests like it."""
        self.nth = self.life.nth(SERVE, self.path, self.asked, self.operation.key)
        self.answer(None, error)

    def announce(self, due_ms: int = 0) -> None:
        """Offer to serve it, or its next part."""
        role, table, verb = self.role, self.wire.table, self.asked
        key = self.operation.key
        if self.part == 1:
            self.nth = self.life.nth(SERVE, self.path, verb, key)
            if self.wire.latencies:
                due_ms = max(due_ms, table.now_ms + self._latency_ms("serve_ms"))
            # A partition delays the request only: its later parts happen inside the Endpoint.
            if role.cut_off_until_ms > due_ms:
                due_ms = role.cut_off_until_ms
        else:
            verb = f"{verb}.{self.part}"
        option = Option(SERVE, self.path, self.serve, (table.step,), due_ms, role.name)
        option.verb, option.key, option.nth = verb, key, self.nth
        option.may_touch = self.may
        option.source = self
        self.option = option
        table.offer(option)

    def serve(self) -> None:
        """Run its handler to the next Pause or to its answer; here it takes effect."""
        self.option = None
        self.wire.served = self
        if self.post.memory:
            self.wire.enter(self.post)
        table = self.wire.table
        turn = table.turn
        if turn is not None:
            turn.because = self.because
            turn.operation = self.operation
        after_ms = self._latency_ms("answer_ms") if self.wire.latencies else 0
        try:
            pause = self._serve(table)
        except StopIteration as done:
            operation = self.operation
            self.wire.counts.served[self.role.name, operation.plural, operation.verb] += 1
            if turn is not None:
                self._note(_revision_of(done.value), "")
            self.answer(done.value, None, after_ms)
        except ApiError as error:
            self.wire.counts.refuse(self.role.name, self.operation, error)
            if turn is not None:
                self._note("", error.reason)
            self.answer(None, error, after_ms)
        else:
            if turn is not None:
                self._note("", "")
            self.part += 1
            self.pause = pause
            self.wire.pause(self, pause)

    def _serve(self, table: Table) -> Pause:
        """Run the handler to its next Pause; StopIteration has its answer."""
        handler, now_ms, marks = self.handler, table.pending.now_ms, table.marks
        marks.is_served = not self.post.memory
        token = LOOKED.set(self.wire.look_back)
        try:
            if handler is not None:
                return handler.send(now_ms)
            handler = self.post.endpoint.handle(self.operation, self.role.name, now_ms)
            self.handler = handler
            return next(handler)
        finally:
            LOOKED.reset(token)
            marks.is_served = False

    def _note(self, revision: str, outcome: str) -> None:
        """Note on the Step which revision it wrote, or else read, and how it was refused."""
        table = self.wire.table
        changes = table.marks.changes
        table.note_outcome(str(changes[-1].revision) if changes else revision, outcome)

    def _latency_ms(self, part: str) -> int:
        stated = self.wire.latencies
        return latency_of(stated, part, self.operation, self.role.name, self.post.name)

    def answer(self, value: Any, error: ApiError | None = None, after_ms: int = 0) -> None:
        """Offer the answer to its caller, that much later. If that no longer waits, drop the
        answer; a watch that it has opened is closed."""
        self.is_served = True
        self.handler = self.pause = None
        self.value = value
        self.error = error
        wire = self.wire
        if isinstance(value, Watch):
            self.value = wire.open_stream(self, value)
        seat = self.seat
        if seat is None or seat.number != self.ticket or not self.life.is_alive:
            self.post.requests.pop(self, None)
            if isinstance(self.value, OpenWatch):
                self.value.close()
            return
        table = wire.table
        due_ms = table.pending.now_ms + after_ms if after_ms else 0
        option = Option(ANSWER, self.path, self.finish, (table.step,), due_ms, self.role.name, seat)
        option.verb, option.key, option.nth = self.asked, self.operation.key, self.nth
        option.source = self
        self.option = option
        table.offer(option)

    def finish(self) -> Seat:
        """End the wait of its caller with the answer."""
        self.post.requests.pop(self, None)
        assert self.seat is not None
        # Nothing is collected during a Run, so what is over holds nothing that holds it.
        self.option = None
        value, error = self.value, self.error
        if error is not None:
            # An error that is raised keeps the variables of its caller, and what was never awaited
            # among them.
            error = refused(error)
        elif value.__class__ not in SETTLED:
            value = handed(value)
        return self.wire.table.end_wait(self.seat, value, error)

    def forsake(self) -> None:
        """Forget a caller that no longer waits. An answer in flight is dropped; a request that is
        not served yet still takes effect."""
        self.wire.table.marks.writes.append(self.key)
        self.wire.table.marks.reads.append(self.post.key)
        if self.is_served:
            self.post.requests.pop(self, None)
            if isinstance(self.value, OpenWatch):
                self.value.close()

    def withdraw(self, error: ApiError) -> None:
        """Answer it with this error, whether or not it has taken effect. Faults call this."""
        self.wire.table.marks.writes.append(self.key)
        self.wire.table.marks.reads.append(self.role.lives_key)
        pending = self.wire.table.pending
        if self.option is not None:
            pending.remove(self.option)
        self.wire.paused.pop(self, None)
        if self.handler is not None:
            self.handler.close()
        if isinstance(self.value, OpenWatch):
            self.value.close()
        if self.is_served and self.seat is not None and self.option in self.seat.offered:
            self.seat.offered.remove(self.option)
        self.answer(None, error)


def _revision_of(value: Any) -> str:
    """The revision of what was answered, an object or a list; of several objects, the last's."""
    if isinstance(value, tuple) and value:
        value = value[-1]
    meta = getattr(value, "meta", None)
    revision: Any = getattr(value, "revision", "") if meta is None else meta.revision
    return text_of(revision)
