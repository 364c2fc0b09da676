"""Wire: carries Operations to their Endpoints, and answers and watch deliveries back.

An Operation is announced (a `serve` Option), takes effect at one point (when that is performed),
and is answered at a later one (an `answer`). Between the two the caller may crash, the reply may
be lost, or the caller may see its own write come back on a watch.
"""

from __future__ import annotations

from contextlib import suppress
from typing import Any

from testbed.endpoint import Endpoint, Handler, Operation, Pause
from testbed.errors import ApiError, Crashed, TimedOut, Unavailable, WatchBroken
from testbed.life import Seat
from testbed.option import ANSWER, FEED, SERVE, START, WAKE, Footprint, Option
from testbed.stream import Stream, Streams
from testbed.turns import Table
from testbed.watch import Cursor, Watch


class Post:
    """An Endpoint at its place on the wire: whether it is up, what it has in hand."""

    def __init__(self, endpoint: Endpoint) -> None:
        self.endpoint = endpoint
        self.name = endpoint.name
        self.is_up = True
        self.requests: dict[Request, None] = {}
        """Those it has not answered, and those whose answer is on its way, oldest first."""
        self.feeds: dict[str, tuple[Cursor, Option]] = {}
        """Cursors that may move, by kind, and the Option that moves each."""
        self.fed: dict[str, int] = {}
        """How often a move of each has been offered."""
        self.starts = 0
        """How often it was announced that it will be brought back."""


class Request:
    """One Operation on its way: announced, half served, or served and not yet answered."""

    __slots__ = (
        "because",
        "error",
        "handler",
        "is_served",
        "life",
        "nth",
        "operation",
        "option",
        "part",
        "path",
        "pause",
        "post",
        "role",
        "seat",
        "ticket",
        "value",
        "wire",
    )  # fmt: skip

    def __init__(
        self, wire: Wire, post: Post, operation: Operation, seat: Seat, because: int
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
    def said(self) -> str:
        """What a fault that strikes it is said to strike: `alpha create notes/default/n`."""
        return f"{self.role.name} {self.operation}" + (f"#{self.nth}" if self.nth > 1 else "")

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

    def may(self) -> Footprint:
        """What serving it may touch."""
        return self.post.endpoint.may(self.operation)

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
        self.option = option = Option(
            SERVE, self.path, self.serve, (table.step,), due_ms, role.name, verb, key, "",
            self.nth, 0, None, self.may,
        )  # fmt: skip
        table.offer(option)

    def serve(self) -> None:
        """Let it take effect: run its handler to the next Pause, or to its answer."""
        self.option = None
        turn = self.wire.table.turn
        if turn is not None:
            turn.because = self.because
        try:
            handler = self.handler
            if handler is None:
                endpoint = self.post.endpoint
                handler = self.handler = endpoint.handle(
                    self.operation, self.role.name, self.wire.table.now_ms
                )
            pause = next(handler)
        except StopIteration as done:
            self._note(_revision_of(done.value), "")
            self.answer(done.value)
        except ApiError as error:
            self._note("", error.reason)
            self.answer(None, error)
        else:
            self.part += 1
            self.pause = pause
            self.wire.pause(self, pause)

    def _note(self, revision: str, outcome: str) -> None:
        """Tell the Step which revision it wrote, or else read, and how it was refused."""
        table = self.wire.table
        changes = table.marks.changes
        table.turn_said(str(changes[-1].revision) if changes else revision, outcome)

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
        self.option = Option(
            ANSWER, self.path, self.tell, (table.step,), 0, self.role.name, operation.asked,
            operation.key, "", self.nth, 0, self.seat,
        )  # fmt: skip
        table.offer(self.option)

    def tell(self) -> Seat:
        """Let its caller go on with the answer."""
        self.post.requests.pop(self, None)
        assert self.seat is not None
        return self.wire.table.end_wait(self.seat, self.value, self.error)

    def forsake(self) -> None:
        """Its caller waits no longer: an answer that is already there has nobody to go to."""
        if self.is_served:
            self.post.requests.pop(self, None)
            if isinstance(self.value, Stream):
                self.value.close()

    def withdraw(self, error: ApiError) -> None:
        """Its answer will be this error, whatever has become of it: a fault's doing."""
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


class Wire:
    """Between the Clients and the Endpoints; every Operation, answer and delivery crosses it."""

    def __init__(self, table: Table) -> None:
        self.table = table
        self.posts: dict[str, Post] = {}
        self.paused: dict[Request, None] = {}
        """Half served, waiting for a cursor."""
        self.streams = Streams(table)

    def ask(
        self, seat: Seat, post: Post, operation: Operation, timeout_ms: int | None, because: int
    ) -> Request:
        """Announce an Operation whose caller waits for the answer."""
        request = Request(self, post, operation, seat, because)
        post.requests[request] = None
        table = self.table
        table.wait(seat, request)
        if post.is_up:
            request.announce()
        else:
            request.answer(None, _refused(post))
        if timeout_ms is not None:
            late = TimedOut(f"{operation}: no answer within {timeout_ms} ms; it may have happened")
            table.offer_turn(
                seat, WAKE, f"timeout of {operation}", table.now_ms + timeout_ms,
                lambda: table.end_wait(seat, error=late),
            )  # fmt: skip
        return request

    def ask_near(self, seat: Seat, post: Post, operation: Operation) -> Any:
        """Serve and answer in the caller's own turn: no Option, no await, no Pause."""
        if not post.is_up:
            raise _refused(post)
        handler = post.endpoint.handle(operation, seat.life.role.name, self.table.now_ms)
        try:
            next(handler)
        except StopIteration as done:
            value = done.value
            if isinstance(value, Watch):
                return Stream(self.streams, post.name, value, seat.life, operation.plural)
            return value
        except ApiError:
            raise
        except Exception as error:
            # The Endpoint is broken, not its caller: the Run ends by it, and no `except Exception`
            # of the actor may get to see it.
            self.table.fail(error)
            raise Crashed(f"{post.name} is broken") from error
        raise self.table.refused(f"{post.name} is near, so its {operation.verb} may not pause")

    def tell(self, seat: Seat, operation: Operation) -> None:
        """Announce an Operation nobody waits for: a message; one to a near Endpoint is there."""
        post = self.post(operation.endpoint)
        if post.endpoint.near:
            with suppress(ApiError):
                self.ask_near(seat, post, operation)
            return
        request = Request(self, post, operation, seat, 0)
        request.seat = None
        if post.is_up:
            post.requests[request] = None
            request.announce()

    def serve(self, endpoint: Endpoint) -> Post:
        """Put an Endpoint at its place on the wire."""
        post = self.posts[endpoint.name] = Post(endpoint)
        endpoint.on_behind = lambda cursor: self.offer_feed(post, cursor)
        return post

    def post(self, name: str) -> Post:
        """The Endpoint of that name, at its place."""
        post = self.posts.get(name)
        if post is None:
            raise self.table.refused(
                f"nothing answers to {name!r}; this World serves {', '.join(self.posts) or 'none'}"
            )
        return post

    # -- pauses, feeds, streams -----------------------------------------------------------------

    def pause(self, request: Request, pause: Pause) -> None:
        """A handler has yielded: its next part is an Option, now or when its wait is over."""
        self.paused.pop(request, None)
        if pause.cursor is None:
            request.announce(pause.until_ms or 0)
        elif pause.cursor.revision >= pause.revision:
            request.announce()
        else:
            self.paused[request] = None
            if pause.until_ms is not None:
                request.announce(pause.until_ms)

    def release_paused(self) -> None:
        """Offer the next part of what waited for a cursor that has arrived; at a turn's end."""
        for request in list(self.paused):
            pause, option = request.pause, request.option
            if pause is None or pause.cursor is None:
                del self.paused[request]
            elif pause.cursor.is_expired or pause.cursor.revision >= pause.revision:
                del self.paused[request]
                if option is None:
                    request.announce()
                else:
                    self.table.pending.remove(option)
                    option.due_ms = self.table.now_ms
                    option.causes = (*option.causes, self.table.step)
                    self.table.offer(option)

    def offer_feed(self, post: Post, cursor: Cursor) -> None:
        """Offer to move a lagging cursor by one Change; called when it falls behind."""
        fed, option = post.feeds.get(cursor.plural, (None, None))
        if option is not None and option.place is not None:
            if fed is cursor:
                return
            self.table.pending.remove(option)
        if not post.is_up:
            return

        def feed() -> None:
            streams = self.streams
            streams.feeding = self.table.step
            change = cursor.advance()
            streams.feeding = 0
            if change is not None:
                streams.fed[post.name, change.serial] = self.table.step
            if cursor.is_behind:
                self.offer_feed(post, cursor)

        touches = Footprint(writes=frozenset({cursor.key}))
        post.fed[cursor.plural] = nth = post.fed.get(cursor.plural, 0) + 1
        option = Option(
            FEED, f"{post.name}/feed-{cursor.plural}", feed, (self.table.step,), 0, "", "",
            cursor.plural, "", nth, may=lambda: touches,
        )  # fmt: skip
        post.feeds[cursor.plural] = (cursor, option)
        self.table.offer(option)

    def open_stream(self, request: Request, watch: Watch) -> Stream:
        """The caller's end of a watch its Endpoint has opened."""
        return Stream(
            self.streams, request.post.name, watch, request.life, request.operation.plural
        )

    # -- crashes of an Endpoint -----------------------------------------------------------------

    def crash(self, post: Post) -> None:
        """What is not served is refused, what is half served stops there, what is served loses
        its answer; all callers get one error, and cannot tell which it was. Watches break."""
        post.is_up = False
        for _, option in post.feeds.values():
            self.table.pending.remove(option)
        post.feeds.clear()
        for request in list(post.requests):
            request.withdraw(Unavailable(f"{post.name} went away before it answered"))
        for stream in [stream for stream in self.streams.open if stream.endpoint == post.name]:
            stream.break_off(WatchBroken(f"{post.name} went away"))

    def restart_later(self, post: Post, after_ms: int) -> None:
        """Offer to bring it back, so much later."""
        due_ms = self.table.now_ms + after_ms
        path = f"{post.name}/start"
        step = self.table.step
        post.starts += 1
        self.table.offer(
            Option(START, path, lambda: self.restart(post), (step,), due_ms, nth=post.starts)
        )

    def restart(self, post: Post) -> None:
        """It is up again, with empty memory."""
        if not post.is_up:
            post.is_up = True
            post.endpoint.restart()


def _refused(post: Post) -> Unavailable:
    return Unavailable(f"{post.name} is down: connection refused")


def _revision_of(value: Any) -> str:
    """The revision an answer speaks of: an object's, a list's; of several objects, the last's."""
    if isinstance(value, tuple) and value:
        value = value[-1]
    said = getattr(value, "revision", None) or getattr(getattr(value, "meta", None), "revision", "")
    return str(said)
