"""Fault: what a World may do to an actor or its Client. Levers: all that a Fault can do it with."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fnmatch import fnmatchcase
from functools import partial
from typing import ClassVar

import attrs

from testbed.client.open_watch import OpenWatch
from testbed.client.point import Point, ServedSoFar, Whereabouts, point_of, point_of_work
from testbed.client.request import Post, Request
from testbed.client.wire import Wire
from testbed.errors import ApiError, ScenarioError, WatchBroken, shown
from testbed.objects.fitting import Unfit, fitted_part
from testbed.store.footprint import NOTHING, Footprint
from testbed.store.store import Store
from testbed.turns.life import Role
from testbed.turns.option import ANSWER, DELIVER, FAULT, SERVE, Option
from testbed.turns.table import Table
from testbed.words import spoken


@attrs.frozen
class Way:
    """One way in which a Fault could strike now. The Chooser sees it as an Option."""

    target: str
    """What it strikes, as a race file names it: `alpha`, `alpha get notes/default/n`."""
    strike: Callable[[], None]
    """Makes it happen."""
    actor: str = ""
    """The actor it strikes; empty for an Endpoint."""
    touches: Footprint = NOTHING
    """Its footprint, without the budget that every fault spends."""
    causes: tuple[int, ...] = ()
    """The Steps that made it possible, if it strikes a request."""


@attrs.frozen(kw_only=True)
class Fault:
    """One kind of trouble that a scenario allows, and how often. Each kind is legal: Kubernetes,
    its network or its machines may do it. The docstring of its file says why.

    The World asks for its `ways` when a Chooser looks past the ready Options, as long as some of
    its budget is left.

    A kind is one file in `testbed/faults/`, named as its word. Its fields are its settings. On the
    command line and in race files a setting is called by the first word of its field, and a field
    in `_ms` takes a duration: `restart=2s` sets `restart_after_ms`. So no two fields begin with the
    same word, and none with `after`, `before` or `at`.
    """

    word: ClassVar[str]
    """One imperative word, as users write it."""
    effect: ClassVar[str] = "{word} struck {target}"
    """The sentence by which a story tells what it did.

    `{target}` is what it struck. For a target such as `pods to alpha`, `{whose}` is `alpha's` and
    `{what}` is `pods`. For `alpha bind pods/default/c`, `{what}` is `bind of pods/default/c`.
    """
    recovery: ClassVar[str] = "recovers"
    """What a story says of its target when a fault that lasts is over."""
    strikes_requests: ClassVar[bool] = False
    """Whether it strikes one request, which a race file names as its target."""
    length: ClassVar[str] = ""
    """The name of the setting that says how long it lasts; empty if it does not last."""
    lateness: ClassVar[str] = ""
    """The field that says how late it makes things; empty if it makes nothing late."""
    allows_negative: ClassVar[bool] = False
    """Whether a setting may be negative: only a clock can be set back."""

    target: str = attrs.field(default="*", kw_only=False)
    """What it may strike: a name or a glob."""
    times_max: int = 1
    """How often it may strike in one Run."""
    until_ms: int | None = None
    """It strikes, and lasts, only until this virtual time; None: as long as its settings say."""

    def ways(self, levers: Levers) -> Iterator[Way]:
        """Every way it could strike now, in a stated order."""
        raise NotImplementedError

    def lasts_ms(self, for_ms: int, now_ms: int) -> int:
        """How long it lasts if it strikes now; by itself it would last for `for_ms`."""
        return for_ms if self.until_ms is None else self.until_ms - now_ms

    def ends_ms(self, now_ms: int) -> int | None:
        """When its target is free of it again, if it strikes now. None if it does not last, or if
        a story has nothing to tell when it is over."""
        return None

    def hits(self, name: str) -> bool:
        """Whether this name is among its targets."""
        return fnmatchcase(name, self.target)

    def describe(self, target: str) -> str:
        """What it did to this target, in words: `alpha crashed`."""
        who, _, what = target.partition(" ")
        if " to " in target:
            what, _, who = target.partition(" to ")
        else:
            verb, _, key = what.partition("#")[0].partition(" ")
            what = f"{spoken(*verb.partition('/')[::2])} of {key}"
        return self.effect.format(word=self.word, target=target, whose=f"{who}'s", what=what)


@attrs.frozen
class Hit:
    """One fault that has struck, and where: what it takes to let the same strike in another Run."""

    fault: Fault
    target: str
    """As its Way named it."""
    actor: str
    """Empty for an Endpoint."""
    point: Point | None
    """How far its target had come: the actor, the Endpoint, the Store's history or the watch; if it
    struck a request, the task that had sent it. None if no point tells where it struck."""
    now_ms: int | None
    """The virtual time; None if the request says it all."""


class Levers:
    """All that a Fault may do.

    No lever drops anything silently. A lost message is an error that its caller gets. The reader
    of a broken watch is told. What is held back leaves the pending Options and comes back later.
    """

    # A fault tells its Footprint before it strikes (`Way.touches`), for it is an Option like any
    # other: from Footprints alone a complete search decides which turns may change places with
    # it. So the Footprint must name all that the lever touches. Name too little, and orders that
    # matter are left out silently; name too much, and Runs are only played that add nothing.

    def __init__(
        self, table: Table, wire: Wire, store: Store, start: Callable[[Role, int], None]
    ) -> None:
        self._table = table
        self._wire = wire
        self._start = start
        self.store = store
        self.hits: list[Hit] = []
        """The faults that have struck so far, oldest first."""
        self.tally: ServedSoFar | None = None
        """What was served so far; None if nothing counts it."""

    @property
    def now_ms(self) -> int:
        """Virtual time."""
        return self._table.now_ms

    def note_fault(self, fault: Fault, way: Way, touches: Footprint) -> None:
        """A fault strikes: note in its Step what it touches, and count it."""
        self.hits.append(self._hit(fault, way, touches))
        self._table.marks.reads.extend(sorted(touches.reads))
        self._table.marks.writes.extend(sorted(touches.writes))
        self._table.faults += 1
        self._lasts_until(self._table.now_ms)

    # Where it strikes is told by what its Footprint keeps in order with it, and by nothing else: so
    # all Runs that differ only in the order of turns that commute have the same Hits.
    def _hit(self, fault: Fault, way: Way, touches: Footprint) -> Hit:
        here, role = self.here, self._table.roles.get(way.actor)
        if not fault.strikes_requests:
            return Hit(
                fault, way.target, way.actor, point_of(way.actor, touches, here), self.now_ms
            )
        who = way.target.partition(" ")[0]
        task = who if "/" in who else f"{who}/main"
        point = None if role is None else point_of_work(role, here, task=task)
        return Hit(fault, way.target, way.actor, point, None)

    @property
    def here(self) -> Whereabouts:
        """How far all actors and Endpoints have come."""
        streams = self._wire.streams.open
        return Whereabouts(self._table.roles, self._wire.posts, streams, self.tally)

    def _lasts_until(self, due_ms: int) -> None:
        self._table.last_fault_ms = max(self._table.last_fault_ms, due_ms)

    # -- what is there --------------------------------------------------------------------------

    def actors(self, *, up: bool = True) -> list[Role]:
        """The actors that run now, by name. With `up=False`, those that ran and are down."""
        roles = (role for _, role in sorted(self._table.roles.items()))
        return [r for r in roles if (r.is_up if up else r.life is not None and not r.is_up)]

    def endpoints(self, *, up: bool = True) -> list[Post]:
        """The Endpoints that answer now, by name. With `up=False`, those that are down."""
        return [post for _, post in sorted(self._wire.posts.items()) if post.is_up == up]

    def requests(self, *, served: bool) -> list[Request]:
        """The requests that a caller still waits for, oldest first: with `served`, those that have
        taken effect and are not answered yet; without, those that have had no effect yet."""
        return [
            request
            for _, post in sorted(self._wire.posts.items())
            for request in post.requests
            if request.is_awaited and (request.is_served if served else request.is_untouched)
        ]

    def streams(self) -> list[OpenWatch]:
        """The open watches, by path."""
        return sorted(self._wire.streams.open, key=lambda stream: stream.path)

    def memory(self, role: Role) -> Footprint:
        """The Footprint of a fault that the next turn of any of the actor's tasks could notice."""
        return Footprint(writes=frozenset({role.memory}))

    def end_of(self, role: Role) -> Footprint:
        """The Footprint of the end of its life: its memory, its requests and its watches."""
        return self._end_of_open(role) | Footprint(writes=frozenset({role.lives_key}))

    def end_of_streams(self, role: Role) -> Footprint:
        """The Footprint of the end of all its watches. Which these are depends on whether a request
        that may open one is served before."""
        asked = frozenset(
            request.key
            for post in self._wire.posts.values()
            for request in post.requests
            if request.role is role and not request.is_served and request.may_open
        )
        return self._end_of_open(role) | Footprint(reads=asked)

    def _end_of_open(self, role: Role) -> Footprint:
        ends = self.memory(role)
        for stream in role.life.streams if role.life is not None else ():
            ends |= stream.may_end()
        return ends

    def home_of(self, role: Role) -> str:
        """The Endpoint to which an actor sends what it addresses to none by name."""
        return role.home or self._wire.front

    def end_of_endpoint(self, post: Post) -> Footprint:
        """The Footprint of its crash: the requests it has not answered, the watches it serves."""
        requests = (request.key for request in post.requests)
        callers = (request.role.lives_key for request in post.requests)
        ends = Footprint(frozenset(callers), frozenset({post.key, *requests}))
        for stream in self.streams():
            if stream.server is post:
                ends |= stream.may_end()
        return ends

    # -- the levers -----------------------------------------------------------------------------

    def crash(self, role: Role, restart_after_ms: int | None) -> None:
        """End its life now; begin the next one later, or never."""
        if role.life is not None:
            self._table.end_life(role.life)
        if restart_after_ms is not None:
            self._start(role, restart_after_ms)
            self._lasts_until(self.now_ms + restart_after_ms)

    def start(self, role: Role) -> None:
        """Begin its next life now."""
        self._start(role, 0)

    def crash_endpoint(self, post: Post, restart_after_ms: int | None) -> None:
        """Take it down, with all that it has not answered; bring it back later, or never."""
        self._wire.crash(post)
        if restart_after_ms is not None:
            self._wire.restart_later(post, restart_after_ms)
            self._lasts_until(self.now_ms + restart_after_ms)

    def restart_endpoint(self, post: Post) -> None:
        """Bring it back, with empty memory."""
        self._wire.restart(post)

    def stall(self, role: Role, by_ms: int) -> None:
        """No task of it moves for `by_ms`. What it has sent goes on."""
        life = role.life
        if life is not None:
            life.stalled_until_ms = until = self.now_ms + by_ms
            self._table.postpone(life, until, lambda option: option.seat is not None)
            self._lasts_until(until)

    def cut_off(self, role: Role, for_ms: int) -> None:
        """Nothing crosses the wire from it or to it for `for_ms`; afterwards all of it does."""
        role.cut_off_until_ms = until = self.now_ms + for_ms
        self._lasts_until(until)
        if role.life is not None:
            crosses = (SERVE, ANSWER, DELIVER)
            posts = self._wire.posts.values()
            # A request of several parts has reached its server when the first part is served: the
            # other parts happen in the server, cross no wire, and are not postponed.
            within = [r.option for post in posts for r in post.requests if r.is_half_served]
            self._table.postpone(
                role.life, until, lambda option: option.kind in crosses and option not in within
            )

    def lag(self, role: Role, plural: str, by_ms: int, for_ms: int) -> None:
        """Commits to that kind in the next `for_ms` reach its watches `by_ms` late."""
        role.lags[plural] = (by_ms, self.now_ms + for_ms)
        self._lasts_until(self.now_ms + for_ms + by_ms)

    def failing(self, request: Request, error: ApiError) -> Way:
        """The Way in which the request's caller gets this error. What the request has done stays
        done; what it has not done yet never happens."""
        role, option = request.role, request.option
        touches = Footprint(
            reads=frozenset({role.lives_key, request.post.key}), writes=frozenset({request.key})
        )
        causes = option.causes if option is not None else ()
        return Way(request.title, partial(request.withdraw, error), role.name, touches, causes)

    def break_watch(self, stream: OpenWatch) -> None:
        """Close a watch. Its reader is told, and may resume from the last revision it saw."""
        stream.break_off(WatchBroken(f"the watch of {stream.plural} was closed"))

    def rehome(self, role: Role, post: Post) -> None:
        """Make it send to that Endpoint from now on; its watches at others end."""
        role.home = post.name
        for stream in list(role.life.streams) if role.life is not None else ():
            if stream.server is not post:
                self.break_watch(stream)

    def compact(self, revision: int) -> None:
        """Forget the history before this revision."""
        self.store.compact(revision)

    def step_clock(self, role: Role, by_ms: int) -> None:
        """Shift what the actor's own clock shows. Its timers run on."""
        role.clock_shift_ms += by_ms


class Allowed:
    """A Fault in one World, and how often it has struck there."""

    def __init__(self, fault: Fault, place: str = "") -> None:
        if not isinstance(fault, Fault):
            raise ScenarioError(
                f"world.allow was given {shown(fault)}: expected a fault.\n"
                'Next: world.allow(Crash("alpha", times_max=1)).'
            )
        wrong = ""
        try:
            fault = fitted_part(fault)
        except Unfit as unfit:
            wrong, step = str(unfit), unfit.next_step
        for name, number, usual in () if wrong else _negative(fault):
            wrong, step = f"{name} is {number}: expected 0 or more", f"say {name}={usual}"
        if wrong:
            kind = type(fault).__name__
            raise ScenarioError(f"world.allow was given a {kind}, but {wrong}.\nNext: {step}.")
        self.fault = fault
        self.place = place
        """The file and the line that allow it; empty if no reader can mend that."""
        self.struck = 0
        self._struck: dict[str, int] = {}
        """How often it has struck each target; numbers the Options of one sentence."""

    def options(self, levers: Levers) -> Iterator[Option]:
        """An Option for every way in which it could strike now; none once its budget is spent."""
        until_ms = self.fault.until_ms
        if self.struck < self.fault.times_max and (until_ms is None or levers.now_ms < until_ms):
            for way in self.fault.ways(levers):
                yield self._option(way, levers)

    def _option(self, way: Way, levers: Levers) -> Option:
        word = self.fault.word
        # Each strike may be the last that the budget allows: faults of one word keep their order.
        touches = way.touches | Footprint(writes=frozenset({f"budget:{word}"}))
        target = way.target
        nth = self._struck.get(target, 0) + 1

        def strike() -> None:
            self.struck += 1
            self._struck[target] = nth
            levers.note_fault(self.fault, way, touches)
            way.strike()

        option = Option(
            FAULT, f"fault/{word}", strike,
            causes=way.causes, due_ms=levers.now_ms, actor=way.actor,
        )  # fmt: skip
        option.may_touch = lambda: touches
        option.fault = self.fault
        return option.about(word, target, nth=nth)


def _negative(fault: Fault) -> Iterator[tuple[str, int, int]]:
    """The settings that are negative and may not be: the name, the number, and one that may be."""
    for field in attrs.fields(type(fault)):
        number, is_own = getattr(fault, field.name), field.name not in attrs.fields_dict(Fault)
        if isinstance(number, int) and number < 0 and not (is_own and fault.allows_negative):
            yield field.name, number, field.default if isinstance(field.default, int) else 1000
