"""Wire: carries Operations to their Endpoints, and answers and watch deliveries back.

An Operation is announced as a `serve` Option, takes effect when that is performed, and is answered
by an `answer` Option in a later turn. Between the two its caller may crash, the reply may be lost,
or the caller may see its own write on a watch.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import Any

from testbed.client.handed import SETTLED, handed, refused
from testbed.client.open_watch import OpenWatch, Streams
from testbed.client.request import Post, Request
from testbed.client.request_counts import RequestCounts
from testbed.errors import CONNECTION_LOST, ApiError, Crashed, TimedOut, Unavailable, WatchBroken
from testbed.store.endpoint import Endpoint, Operation, Pause
from testbed.store.footprint import HISTORY, LOG, Footprint
from testbed.store.watch import Cursor, Watch
from testbed.turns.life import Role, Seat
from testbed.turns.option import FEED, START, WAKE, Option
from testbed.turns.shared import Both, shared
from testbed.turns.table import Table

COUNT = "count"
"""Footprint key that a commit writes while a request waits for a revision."""


class Wire:
    """What lies between Clients and Endpoints; every Operation, answer and delivery crosses it."""

    def __init__(self, table: Table) -> None:
        self.table = table
        self.posts: dict[str, Post] = {}
        self.front = "store"
        """The name of the front: the first Endpoint that stands before the Store, or the Store's
        own."""
        self.paused: dict[Request, None] = {}
        """Requests that are half served and wait for a cursor."""
        self.served: Request | None = None
        """The request that was served in this turn, and so has made the commits of the turn."""
        self.counts = RequestCounts()
        """Who was served, and who was refused what."""
        self.streams = Streams(table)
        self.latencies = self.streams.latencies
        self.look_back: Callable[[], None] = lambda: None
        """Marks that the order of all commits matters to this turn; the World sets it."""

    def enter(self, post: Post) -> None:
        """Mark what an Endpoint may see in this turn that does not mark it by itself: what it
        remembers, and, by whatever way, all that was committed."""
        self.table.marks.writes += post.memory
        self.look_back()

    def ask(
        self, seat: Seat, post: Post, operation: Operation, timeout_ms: int | None, because: int
    ) -> Request:
        """Announce an Operation whose caller waits for the answer."""
        request = Request(self, post, operation, seat, because)
        post.requests[request] = None
        table = self.table
        table.wait(seat, request)
        table.marks.reads.append(post.key)
        if post.is_up:
            request.announce()
        else:
            request.refuse(_refused(post))
        if timeout_ms is not None:
            late = TimedOut(f"{operation}: no answer within {timeout_ms} ms; it may have happened")
            table.offer_turn(
                seat, WAKE, f"timeout of {operation}", table.now_ms + timeout_ms,
                lambda: table.end_wait(seat, error=late),
            )  # fmt: skip
        return request

    def ask_near(self, seat: Seat, post: Post, operation: Operation) -> Any:
        """Serve and answer in the caller's own turn: no Option, no await, no Pause."""
        table, life = self.table, seat.life
        table.marks.reads.append(post.key)
        if post.memory:
            self.enter(post)
        if not post.is_up:
            raise _refused(post)
        # The Endpoint is given the time, and its answer may depend on that.
        life.saw_time_at = table.step
        try:
            table.marks.is_served = not post.memory
            try:
                next(post.endpoint.handle(operation, life.role.name, table.pending.now_ms))
            finally:
                table.marks.is_served = False
        except StopIteration as done:
            value = done.value
            self.counts.served[life.role.name, operation.plural, operation.verb] += 1
            if isinstance(value, Watch):
                value = OpenWatch(self.streams, post, value, life, operation)
            return value if value.__class__ in SETTLED else handed(value)
        except ApiError as error:
            self.counts.refuse(life.role.name, operation, error)
            raise refused(error) from None
        except Exception as error:
            # The Endpoint is broken, not its caller. The error ends the Run, and the actor gets
            # Crashed instead, which its `except Exception` cannot catch.
            self.table.fail(error)
            raise Crashed(f"{post.name} is broken") from error
        raise self.table.refused(
            f"{post.name} is near, so its {operation.verb} may not pause",
            "let its handler return before it yields a Pause",
        )

    def tell(self, seat: Seat, operation: Operation) -> None:
        """Announce a message: an Operation without an answer. A near Endpoint gets it at once; an
        Endpoint that is down never does."""
        post = self.post_of(operation, seat.life.role)
        if post.endpoint.near:
            with suppress(ApiError):
                self.ask_near(seat, post, operation)
            return
        request = Request(self, post, operation, seat, 0)
        request.seat = None
        self.table.marks.reads.append(post.key)
        if post.is_up:
            post.requests[request] = None
            request.announce()

    def serve(self, endpoint: Endpoint) -> Post:
        """Put an Endpoint on the wire, in place of one with the same name."""
        post = self.posts[endpoint.name] = Post(endpoint)
        if endpoint.is_front and not self.posts[self.front].endpoint.is_front:
            self.front = endpoint.name
        endpoint.on_behind = lambda cursor: self.offer_feed(post, cursor)
        return post

    def post_of(self, operation: Operation, role: Role) -> Post:
        """Where an Operation of that actor goes: the Endpoint it names, its home, or the front."""
        name = operation.endpoint or role.home or self.front
        return self.posts.get(name) or self.post(name)

    def post(self, name: str) -> Post:
        """The place of the Endpoint of that name."""
        post = self.posts.get(name)
        if post is None:
            raise self.table.refused(
                f"nothing answers to {name!r}; this World serves {', '.join(self.posts) or 'none'}",
                "name one of these, or let the scenario serve it: world.serve(…)",
            )
        return post

    def shares(self) -> Both | None:
        """The first object that two actors, or an actor and an Endpoint, hold and that can change;
        None if none is seen."""
        parties: dict[str, list[object]] = {
            name: [role.factory()] for name, role in self.table.roles.items()
        }
        return shared({**parties, **{name: [post.endpoint] for name, post in self.posts.items()}})

    # -- pauses, feeds, streams -----------------------------------------------------------------

    def pause(self, request: Request, pause: Pause) -> None:
        """Offer the next part of a request whose handler has paused: now, at a time, or when a
        cursor has arrived."""
        self.paused.pop(request, None)
        if pause.cursor is None:
            request.announce(pause.until_ms or 0)
        else:
            self._wait_for(request, pause, pause.cursor)

    def _wait_for(self, request: Request, pause: Pause, cursor: Cursor) -> None:
        """Let it go on when the cursor has reached the revision, by feeds or by commits; at the
        latest at the time that the Pause names."""
        # A cursor that lags also arrives, in a way, when a compaction makes it expire.
        self.table.marks.reads += (LOG,) if cursor.follows else (cursor.key, HISTORY)
        if cursor.revision >= pause.revision:
            request.announce()
        else:
            self.paused[request] = None
            if pause.until_ms is not None:
                request.announce(pause.until_ms)

    def release_paused(self) -> None:
        """Offer the next part of requests whose cursor has arrived; called at the end of a turn.

        A cursor may need the commits of several turns to arrive. So each of these turns writes
        COUNT, which keeps their order.
        """
        marks = self.table.marks
        if marks.changes and any(request.waits_for_commits for request in self.paused):
            marks.writes.append(COUNT)
        for request in list(self.paused):
            pause, option = request.pause, request.option
            if pause is None or pause.cursor is None:
                del self.paused[request]
            elif pause.cursor.is_expired or pause.cursor.revision >= pause.revision:
                del self.paused[request]
                if option is None:
                    request.announce()
                elif option.due_ms > self.table.now_ms:
                    self.table.pending.remove(option)
                    option.due_ms = self.table.now_ms
                    option.causes = (*option.causes, self.table.step)
                    self.table.offer(option)

    def offer_feed(self, post: Post, cursor: Cursor) -> None:
        """Offer to move a lagging cursor by one Change; called when it falls behind. If it has
        expired, take back what is offered."""
        fed, option = post.feeds.get(cursor.plural, (None, None))
        if option is not None and option.place is not None:
            if fed is cursor and not cursor.is_expired:
                return
            self.table.pending.remove(option)
        if cursor.is_expired or not post.is_up:
            return

        def feed() -> None:
            self.table.marks.writes += post.memory
            streams = self.streams
            streams.feeding = self.table.step
            change = cursor.advance()
            streams.feeding = 0
            post.fed_at[cursor] = self.table.step
            if change is not None:
                streams.fed[post.name, change.serial] = self.table.step
            if cursor.is_behind:
                self.offer_feed(post, cursor)

        touches = Footprint(frozenset({HISTORY}), frozenset({cursor.key, *post.memory}))
        # The commit of that Change made it possible, and the feed before, whichever came first.
        here = self.table.step
        # A commit of this turn is not in `commits` yet; one of the assembly never will be.
        is_new = any(c.revision == cursor.next_revision for c in self.table.marks.changes)
        default = (here, self.table.now_ms if is_new else 0)
        step, committed_ms = self.streams.commits.get(cursor.next_revision, default)
        causes = tuple(sorted({step, post.fed_at.get(cursor, here), here}))
        due_ms = committed_ms + cursor.lag_ms if cursor.lag_ms else 0
        post.fed[cursor.plural] = nth = post.fed.get(cursor.plural, 0) + 1
        option = Option(
            FEED, f"{post.name}/feed-{cursor.plural}", feed, causes=causes, due_ms=due_ms
        )
        option.key, option.nth = cursor.plural, nth
        option.may_touch = lambda: touches
        option.source = post
        post.feeds[cursor.plural] = (cursor, option)
        self.table.offer(option)

    def open_stream(self, request: Request, watch: Watch) -> OpenWatch:
        """Make the caller's end of a watch that its Endpoint has opened."""
        return OpenWatch(self.streams, request.post, watch, request.life, request.operation)

    # -- crashes of an Endpoint -----------------------------------------------------------------

    # A request that was not served has no effect; one that is half served keeps the effect of the
    # parts that were; one that is served loses only its answer. Every caller gets the same error,
    # so none can tell which of the three it was, just as with a real connection.
    def crash(self, post: Post) -> None:
        """Take an Endpoint down: fail all its requests with Unavailable, and break its watches."""
        post.is_up = False
        self.table.marks.writes.append(post.key)
        for _, option in post.feeds.values():
            self.table.pending.remove(option)
        post.feeds.clear()
        for request in list(post.requests):
            message = f"{post.name} went away before it answered"
            request.withdraw(Unavailable(message, causes=(CONNECTION_LOST,)))
        for stream in [stream for stream in self.streams.open if stream.server is post]:
            stream.break_off(WatchBroken(f"{post.name} went away"))

    def restart_later(self, post: Post, after_ms: int) -> None:
        """Offer to bring it back, that much later."""
        due_ms = self.table.now_ms + after_ms
        path = f"{post.name}/start"
        step = self.table.step
        post.starts += 1
        touches = Footprint(writes=frozenset({post.key})) | post.may_see
        option = Option(START, path, lambda: self.restart(post), causes=(step,), due_ms=due_ms)
        option.nth = post.starts
        option.may_touch = lambda: touches
        self.table.offer(option)

    def restart(self, post: Post) -> None:
        """Bring it back, with empty memory."""
        self.table.marks.writes.append(post.key)
        if not post.is_up:
            post.is_up = True
            self.enter(post)
            post.in_service(self.table.marks, post.endpoint.restart)


def _refused(post: Post) -> Unavailable:
    return Unavailable(f"{post.name} is down: connection refused")
