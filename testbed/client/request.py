"""Request: one Operation on its way. Post: the place of its Endpoint on the wire."""

from __future__ import annotations

from typing import Any, Protocol

from testbed.client.stream import Stream
from testbed.errors import ApiError
from testbed.store.endpoint import Endpoint, Handler, Operation, Pause, creator_of
from testbed.store.footprint import LOG, Footprint
from testbed.store.watch import Cursor, Watch
from testbed.turns.life import Seat
from testbed.turns.option import ANSWER, SERVE, Option, request_key
from testbed.turns.table import Table


class Post:
    """An Endpoint at its place on the wire: whether it is up, what it has in hand."""

    def __init__(self, endpoint: Endpoint) -> None:
        self.endpoint = endpoint
        self.name = endpoint.name
        self.key = f"endpoint:{endpoint.name}"
        """Written when it goes away and comes back, read by all that crosses to it or from it."""
        self.server = self
        self.is_up = True
        self.requests: dict[Request, None] = {}
        """Those it has not answered, and those whose answer is on its way, oldest first."""
        self.feeds: dict[str, tuple[Cursor, Option]] = {}
        """Cursors that may move, by kind, and the Option that moves each."""
        self.fed: dict[str, int] = {}
        """How often a move of each has been offered."""
        self.starts = 0
        """How often it was announced that it will be brought back."""


class Carrier(Protocol):
    """What a Request asks of the Wire that carries it."""

    table: Table
    paused: dict[Request, None]
    """Half served, waiting for a cursor."""
    served: Request | None
    """The one that was served in this turn."""

    def pause(self, request: Request, pause: Pause) -> None:
        """Called when its handler has yielded: offer the next part when its wait is over."""

    def open_stream(self, request: Request, watch: Watch) -> Stream:
        """Called when its Endpoint has opened a watch: the caller's end of that."""


class Request:
    """One Operation on its way: announced, half served, or served and not yet answered."""

    __slots__ = (
        "because", "error", "handler", "is_served", "life", "nth", "operation", "option", "part",
        "path", "pause", "post", "role", "seat", "ticket", "value", "wire",
    )  # fmt: skip

    def __init__(
        self, wire: Carrier, post: Post, operation: Operation, seat: Seat, because: int
    ) -> None:
        self.wire = wire
        self.post = post
        self.operation = operation
        self.life = seat.life
        self.role = seat.life.role
        self.seat: Seat | None = seat
        """The caller that waits for the answer; None for a message."""
        self.path = seat.path
        self.ticket = seat.number
        self.because = because
        self.handler: Handler | None = None
        self.nth = 1
        """Which of its sentence it is; its answer is the answer to just that one."""
        self.part = 1
        self.pause: Pause | None = None
        self.is_served = False
        self.option: Option | None = None
        self.value: Any = None
        self.error: ApiError | None = None

    def __str__(self) -> str:
        return f"the answer to {self.operation}"

    @property
    def server(self) -> Post:
        """The place it goes to."""
        return self.post

    @property
    def said(self) -> str:
        """What a fault that strikes it is said to strike: `alpha create notes/default/n`, or
        `alpha/cache-notes list notes` if it is not of its main task."""
        nth = f"#{self.nth}" if self.nth > 1 else ""
        return f"{self.path.removesuffix('/main')} {self.operation}{nth}"

    @property
    def key(self) -> str:
        """What it shares, in a Footprint, with its answer and with the faults on it."""
        return request_key(self.path, self.operation.verb, self.operation.key, self.nth)

    @property
    def is_awaited(self) -> bool:
        """Whether the task that asked is still there, and still waits for just this."""
        seat = self.seat
        return seat is not None and seat.number == self.ticket and self.life.is_alive

    @property
    def is_untouched(self) -> bool:
        """Whether it has had no effect yet."""
        return self.part == 1 and not self.is_served

    @property
    def is_half_served(self) -> bool:
        """Whether a part of it was served, and another is to be."""
        return self.part > 1 and not self.is_served

    @property
    def waits_for_commits(self) -> bool:
        """Whether what it waits for is a cursor that any commit moves."""
        cursor = None if self.pause is None else self.pause.cursor
        return cursor is not None and cursor.follows

    def may(self) -> Footprint:
        """What serving it may touch."""
        may = self.post.endpoint.may(self.operation, self.role.name)
        if self.pause is not None:
            may |= self.pause.may
        # Which of two commits came first is told to a watch that is opened later, too: so what may
        # commit says beforehand that it may matter.
        writes = {f"order:{key.removeprefix(LOG)}" for key in may.writes if key.startswith(LOG)}
        if self.operation.verb == "watch":
            writes.add(f"watches:{self.role.name}/watch-{self.operation.plural}")
        if self.operation.verb in ("create", "txn"):
            writes.add(f"uids:{creator_of(self.post.name, self.role.name)}")
        return may | Footprint(writes=frozenset(writes))

    def announce(self, due_ms: int = 0) -> None:
        """Offer its `serve`, or that of its next part."""
        operation, role, table = self.operation, self.role, self.wire.table
        verb, key = operation.asked, operation.key
        if self.part == 1:
            self.nth = self.life.nth(SERVE, self.path, verb, key)
        else:
            verb = f"{verb}.{self.part}"
        # Only the request itself crosses the wire; its later parts are the Endpoint's own.
        if self.part == 1 and role.cut_off_until_ms > due_ms:
            due_ms = role.cut_off_until_ms
        option = Option(SERVE, self.path, self.serve, (table.step,), due_ms, role.name)
        option.verb, option.key, option.nth = verb, key, self.nth
        option.may_touch = self.may
        option.source = self
        self.option = option
        table.offer(option)

    def serve(self) -> None:
        """Let it take effect: run its handler to the next Pause, or to its answer."""
        self.option = None
        self.wire.served = self
        turn = self.wire.table.turn
        if turn is not None:
            turn.because = self.because
            turn.operation = self.operation
        try:
            handler, now_ms = self.handler, self.wire.table.now_ms
            if handler is None:
                endpoint = self.post.endpoint
                handler = endpoint.handle(self.operation, self.role.name, now_ms)
                self.handler = handler
                pause = next(handler)
            else:
                pause = handler.send(now_ms)
        except StopIteration as done:
            self._note(_revision_of(done.value), "")
            self.answer(done.value)
        except ApiError as error:
            self._note("", error.reason)
            self.answer(None, error)
        else:
            self._note("", "")
            self.part += 1
            self.pause = pause
            self.wire.pause(self, pause)

    def _note(self, revision: str, outcome: str) -> None:
        """Tell the Step which revision it wrote, or else read, and how it was refused."""
        table = self.wire.table
        changes = table.marks.changes
        table.note_outcome(str(changes[-1].revision) if changes else revision, outcome)

    def answer(self, value: Any, error: ApiError | None = None) -> None:
        """It has taken effect, or was refused: offer to tell its caller, if there still is one."""
        self.is_served = True
        self.handler = self.pause = None
        self.value = value
        self.error = error
        wire = self.wire
        if isinstance(value, Watch):
            self.value = wire.open_stream(self, value)
        if not self.is_awaited:
            self.post.requests.pop(self, None)
            if isinstance(self.value, Stream):
                self.value.close()
            return
        operation, table = self.operation, wire.table
        causes = (table.step,)
        option = Option(ANSWER, self.path, self.tell, causes, 0, self.role.name, self.seat)
        option.verb, option.key, option.nth = operation.asked, operation.key, self.nth
        option.source = self
        self.option = option
        table.offer(option)

    def tell(self) -> Seat:
        """Let its caller go on with the answer."""
        self.post.requests.pop(self, None)
        assert self.seat is not None
        return self.wire.table.end_wait(self.seat, self.value, self.error)

    def forsake(self) -> None:
        """Its caller waits no longer: an answer that is already there has nobody to go to."""
        self.wire.table.marks.writes.append(self.key)
        self.wire.table.marks.reads.append(self.post.key)
        if self.is_served:
            self.post.requests.pop(self, None)
            if isinstance(self.value, Stream):
                self.value.close()

    def withdraw(self, error: ApiError) -> None:
        """Its answer will be this error, whatever has become of it: a fault's doing."""
        self.wire.table.marks.writes.append(self.key)
        self.wire.table.marks.reads.append(self.role.lives_key)
        pending = self.wire.table.pending
        if self.option is not None:
            pending.remove(self.option)
        self.wire.paused.pop(self, None)
        if self.handler is not None:
            self.handler.close()
        if isinstance(self.value, Stream):
            self.value.close()
        if self.is_served and self.seat is not None and self.option in self.seat.offered:
            self.seat.offered.remove(self.option)
        self.answer(None, error)


def _revision_of(value: Any) -> str:
    """The revision an answer speaks of: an object's, a list's; of several objects, the last's."""
    if isinstance(value, tuple) and value:
        value = value[-1]
    said = getattr(value, "revision", None) or getattr(getattr(value, "meta", None), "revision", "")
    return str(said)
