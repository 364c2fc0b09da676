"""Fault: what a World may do to an actor or its Client. Levers: the few things a Fault may pull."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fnmatch import fnmatchcase
from functools import partial
from typing import ClassVar

import attrs

from testbed.client.request import Post, Request
from testbed.client.stream import Stream
from testbed.client.wire import Wire
from testbed.errors import ApiError, ScenarioError, WatchBroken
from testbed.store.footprint import NOTHING, Footprint
from testbed.store.store import Store
from testbed.turns.life import Role
from testbed.turns.option import ANSWER, DELIVER, FAULT, SERVE, Option
from testbed.turns.table import Table


@attrs.frozen
class Way:
    """One way a Fault could strike now; shown to the Chooser as an Option."""

    target: str
    """Whom or what it strikes, as a race file names it: `alpha`, `alpha get notes/default/n`."""
    strike: Callable[[], None]
    """Makes it happen."""
    actor: str = ""
    """The actor it strikes; empty for an Endpoint."""
    touches: Footprint = NOTHING
    """Its footprint, beside the budget it spends."""
    causes: tuple[int, ...] = ()
    """The Steps that made it possible, if it strikes something on its way."""


@attrs.frozen(kw_only=True)
class Fault:
    """A kind of trouble a scenario allows, so often. Each is legal: nothing Kubernetes, its
    network or its machines would never do; the docstring of each kind says why.

    The World asks for its `ways` when a Chooser looks past the ready Options, as long as some of
    its budget is left.
    """

    word: ClassVar[str]
    """One imperative word, as users write it."""

    target: str = attrs.field(
        default="*", kw_only=False, validator=attrs.validators.instance_of(str)
    )
    """Whom it may strike: a name or a glob."""
    times_max: int = 1
    """How often in one Run."""
    until_ms: int | None = None
    """It strikes, and lasts, only until that virtual time; None: as long as it says."""

    def ways(self, levers: Levers) -> Iterator[Way]:
        """Every way it could strike now, in a stated order."""
        raise NotImplementedError

    def lasts_ms(self, for_ms: int, now_ms: int) -> int:
        """How long, if it strikes now and would last so long by itself."""
        return for_ms if self.until_ms is None else self.until_ms - now_ms

    def ends_ms(self, now_ms: int) -> int | None:
        """When what it does to its target is over, if it strikes now; None of what does not last,
        or of what nobody waits for."""
        return None

    def hits(self, name: str) -> bool:
        """Whether that name is among its targets."""
        return fnmatchcase(name, self.target)


class Levers:
    """All a Fault may do. Each lever keeps the promise that nothing is silently dropped: a lost
    message is an error its caller gets, a broken watch tells its reader, and what is held back
    leaves the pending set and comes back later."""

    def __init__(
        self, table: Table, wire: Wire, store: Store, start: Callable[[Role, int], None]
    ) -> None:
        self._table = table
        self._wire = wire
        self._start = start
        self.store = store

    @property
    def now_ms(self) -> int:
        """Virtual time."""
        return self._table.now_ms

    def note_fault(self, touches: Footprint) -> None:
        """A fault strikes: mark what it touches, and when it was."""
        self._table.marks.reads.extend(sorted(touches.reads))
        self._table.marks.writes.extend(sorted(touches.writes))
        self._table.faults += 1
        self._lasts_until(self._table.now_ms)

    def _lasts_until(self, due_ms: int) -> None:
        self._table.last_fault_ms = max(self._table.last_fault_ms, due_ms)

    # -- who and what is there ------------------------------------------------------------------

    def actors(self, *, up: bool = True) -> list[Role]:
        """The actors that run now, or those that ran and do not, by name."""
        roles = (role for _, role in sorted(self._table.roles.items()))
        return [r for r in roles if (r.is_up if up else r.life is not None and not r.is_up)]

    def endpoints(self, *, up: bool = True) -> list[Post]:
        """The Endpoints that answer now, or those that do not, by name."""
        return [post for _, post in sorted(self._wire.posts.items()) if post.is_up == up]

    def requests(self, *, served: bool) -> list[Request]:
        """What is announced and has had no effect yet, or has taken effect and is not answered;
        only what somebody still waits for, oldest first."""
        return [
            request
            for _, post in sorted(self._wire.posts.items())
            for request in post.requests
            if request.is_awaited and (request.is_served if served else request.is_untouched)
        ]

    def streams(self) -> list[Stream]:
        """The open watches, by path."""
        return sorted(self._wire.streams.open, key=lambda stream: stream.path)

    def memory(self, role: Role) -> Footprint:
        """What a fault touches that any turn of an actor's tasks could tell."""
        return Footprint(writes=frozenset({role.memory}))

    def end_of(self, role: Role) -> Footprint:
        """What the end of its life touches: its memory, what it waits for, what it watches."""
        return self.end_of_streams(role) | Footprint(writes=frozenset({role.lives_key}))

    def end_of_streams(self, role: Role) -> Footprint:
        """What it touches that all its watches end."""
        ends = self.memory(role)
        for stream in role.life.streams if role.life is not None else ():
            ends |= stream.may_end()
        return ends

    def home_of(self, role: Role) -> str:
        """The Endpoint that an actor speaks to if it names none."""
        return role.home or self._wire.front

    def end_of_endpoint(self, post: Post) -> Footprint:
        """What its crash touches: all it has in hand, and the watches it serves."""
        requests = (request.key for request in post.requests)
        callers = (request.role.lives_key for request in post.requests)
        ends = Footprint(frozenset(callers), frozenset({post.key, *requests}))
        for stream in self.streams():
            if stream.server is post:
                ends |= stream.may_end()
        return ends

    # -- what may be done -----------------------------------------------------------------------

    def crash(self, role: Role, restart_after_ms: int | None) -> None:
        """End its life, now; begin another one later, or never."""
        if role.life is not None:
            self._table.end_life(role.life)
        if restart_after_ms is not None:
            self._start(role, restart_after_ms)
            self._lasts_until(self.now_ms + restart_after_ms)

    def start(self, role: Role) -> None:
        """Begin another life of it."""
        self._start(role, 0)

    def crash_endpoint(self, post: Post, restart_after_ms: int | None) -> None:
        """Take it away with all it had in hand; bring it back later, or never."""
        self._wire.crash(post)
        if restart_after_ms is not None:
            self._wire.restart_later(post, restart_after_ms)
            self._lasts_until(self.now_ms + restart_after_ms)

    def restart_endpoint(self, post: Post) -> None:
        """Bring it back, with empty memory."""
        self._wire.restart(post)

    def stall(self, role: Role, by_ms: int) -> None:
        """No task of it moves for so long; what it sent goes on."""
        life = role.life
        if life is not None:
            life.stalled_until_ms = until = self.now_ms + by_ms
            self._table.postpone(life, until, lambda option: option.seat is not None)
            self._lasts_until(until)

    def cut_off(self, role: Role, for_ms: int) -> None:
        """Nothing of it crosses the wire for so long, in either direction; then all of it does."""
        role.cut_off_until_ms = until = self.now_ms + for_ms
        self._lasts_until(until)
        if role.life is not None:
            crosses = (SERVE, ANSWER, DELIVER)
            posts = self._wire.posts.values()
            within = [r.option for post in posts for r in post.requests if r.is_half_served]
            self._table.postpone(
                role.life, until, lambda option: option.kind in crosses and option not in within
            )

    def lag(self, role: Role, plural: str, by_ms: int, for_ms: int) -> None:
        """What is committed to that kind in the next `for_ms` reaches it `by_ms` late."""
        role.lags[plural] = (by_ms, self.now_ms + for_ms)
        self._lasts_until(self.now_ms + for_ms + by_ms)

    def failing(self, request: Request, error: ApiError) -> Way:
        """The way in which its caller gets this error, whatever has become of the request."""
        role, option = request.role, request.option
        touches = Footprint(
            reads=frozenset({role.lives_key, request.post.key}), writes=frozenset({request.key})
        )
        causes = option.causes if option is not None else ()
        return Way(request.title, partial(request.withdraw, error), role.name, touches, causes)

    def break_watch(self, stream: Stream) -> None:
        """Close it; its reader is told, and may resume it from the last revision it saw."""
        stream.break_off(WatchBroken(f"the watch of {stream.plural} was closed"))

    def rehome(self, role: Role, post: Post) -> None:
        """Let it speak to that Endpoint from now on; its watches of others end."""
        role.home = post.name
        for stream in list(role.life.streams) if role.life is not None else ():
            if stream.server is not post:
                self.break_watch(stream)

    def compact(self, revision: int) -> None:
        """Forget the history before that revision."""
        self.store.compact(revision)

    def step_clock(self, role: Role, by_ms: int) -> None:
        """Shift what that actor's own clock says."""
        role.clock_shift_ms += by_ms


class Allowed:
    """A Fault in one World, and how often it has struck there."""

    def __init__(self, fault: Fault) -> None:
        if not isinstance(fault, Fault):
            raise ScenarioError(
                f"world.allow was given {fault!r}: expected a fault.\n"
                'Next: world.allow(Crash("alpha", times_max=1)).'
            )
        self.fault = fault
        self.struck = 0
        self._struck: dict[str, int] = {}
        """The same, by target: which of its sentence the next one is."""

    def options(self, levers: Levers) -> Iterator[Option]:
        """An Option for every way it could strike now, as long as its budget lasts."""
        until_ms = self.fault.until_ms
        if self.struck < self.fault.times_max and (until_ms is None or levers.now_ms < until_ms):
            for way in self.fault.ways(levers):
                yield self._option(way, levers)

    def _option(self, way: Way, levers: Levers) -> Option:
        word = self.fault.word
        touches = way.touches | Footprint(writes=frozenset({f"budget:{word}"}))

        target = way.target
        nth = self._struck.get(target, 0) + 1

        def strike() -> None:
            self.struck += 1
            self._struck[target] = nth
            levers.note_fault(touches)
            way.strike()

        option = Option(FAULT, f"fault/{word}", strike, way.causes, levers.now_ms, way.actor)
        option.may_touch = lambda: touches
        option.fault = self.fault
        return option.about(word, target, nth=nth)
