"""World: one cluster, assembled, run once, thrown away.

Objects are added to the Store, Endpoints put on the wire, actors started, faults allowed,
invariants claimed, limits set. It is the same assembly each time: nothing here chooses. What
chooses is the Play (`play.py`), which `prepare` makes for the one Run.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Any, cast

import attrs

from testbed.chooser import Chooser, RunInfo
from testbed.client.actor import Actor, factory_of, made_by
from testbed.client.client import Client
from testbed.client.latency import Latency, check_names
from testbed.client.point import ServedSoFar, Whereabouts
from testbed.client.wire import Wire
from testbed.code.whose import at_place, place_of_call
from testbed.errors import AlreadyExists, Invalid, ScenarioError, UnknownName
from testbed.fault import Allowed, Fault, Hit, Levers
from testbed.invariant import Evidence, Invariant
from testbed.invariants.caches import CachesEqualTheStore
from testbed.invariants.confluence import Confluent
from testbed.invariants.history import RevisionsIncrease
from testbed.invariants.progress import NoActorDies, NobodyIsStuck
from testbed.invariants.watches import WatchesAreGapFree
from testbed.objects.fitting import to_add
from testbed.objects.meta import LOOKED, Object
from testbed.policy import BUILT_IN, in_place_of
from testbed.store.endpoint import Endpoint, Front, Operation, Switched, answer_at_once, served_by
from testbed.store.store import Store
from testbed.store.store_endpoint import ASSEMBLY, StoreEndpoint
from testbed.turns.drivers import trio
from testbed.turns.forgotten import noticing
from testbed.turns.life import Life, Role, Seat
from testbed.turns.option import START, Option
from testbed.turns.session import play_all, watched
from testbed.turns.table import Table
from testbed.turns.trace import Trace
from testbed.turns.verdict import Verdict
from testbed.turns.watchdog import Watchdog
from testbed.world.attendance import Attendance
from testbed.world.budget import UNBOUNDED, USUAL, Budget, check_lateness
from testbed.world.fault_kinds import check_aim
from testbed.world.header import header_of
from testbed.world.in_force import InForce
from testbed.world.judge import Judge
from testbed.world.play import Play
from testbed.world.reading import Claimed, check_reads, unsure

CLAIMS = (RevisionsIncrease, WatchesAreGapFree, CachesEqualTheStore, NoActorDies, NobodyIsStuck)


class World:
    """One cluster: `add` objects, `serve` Endpoints, `start` actors, `allow` faults, `claim`
    invariants, `limit` it; then `run` it under a Chooser. The same assembly and the same choices
    give the same Run, byte for byte."""

    client_for: Callable[[Table, Wire, Life], Client] = Client
    """Makes the Client of each life."""
    chooser: Chooser | None = None
    """Who chooses in its Run; None until it is prepared."""

    def __init__(
        self,
        scenario: str = "world",
        switches: dict[str, Any] | None = None,
        *,
        store: Store | None = None,
        audit: bool = False,
        without: Iterable[str] = (),
        attendance: Attendance | None = None,
    ) -> None:
        self.scenario = scenario
        self.switches = switches or {}
        self.in_force = InForce(self.switches)
        """What the switches of its components are."""
        self.without = frozenset(without)
        """Actors and objects that are left out, by name and by key."""
        self.attendance = attendance
        """What brings in what real programs do; None if no program takes part."""
        self.store = Store() if store is None else store
        self.table = table = Table()
        table.audits = audit
        self.wire = Wire(table)
        self.evidence = Evidence(table, self.wire, self.store)
        self.judge = Judge(table, self.wire, self.evidence)
        self.budget = USUAL
        self.beside: tuple[Fault, ...] = ()
        """The faults that are allowed beside the scenario's own."""
        self.needs_no_race: str = ""
        """Why even its calm run is violated, if the scenario says so."""
        self.goes_on = False
        """Whether the Run goes on after a Violation."""
        self.turns_expected: Callable[[], int] = lambda: 100
        """The length of the calm run, for Choosers that spread things over it."""
        self.again: Callable[..., World] | None = None
        """Assembles another World of the same scenario; None if there is none."""
        self.trace = Trace({})
        """The record of its Run; empty until `prepare`."""
        self._levers = Levers(table, self.wire, self.store, self.offer_start)
        self._allowed: list[Allowed] = []
        self._claimed: list[Claimed] = []
        """The claims that declare what they read, and where they were made."""
        self._play: Play | None = None
        """Its one Run; None until it is prepared."""
        self.store.marks = table.marks
        table.context.run(LOOKED.set, self._looked)
        self.wire.look_back = self.store.look_back
        self.store.clock = lambda: table.now_ms
        self.wire.serve(StoreEndpoint(self.store))
        self.judge.claim(*(claim() for claim in CLAIMS))

    def _looked(self) -> None:
        """An actor has looked at a number that all commits have counted."""
        if self.table.running is not None and not self.table.is_over:
            self.store.look_back()

    # -- assembling -----------------------------------------------------------------------------

    def add(self, *items: Object) -> None:
        """Put objects into the Store before anything moves, in this order. They are completed as if
        created through the front, but keep the status, identity and age that they are given."""
        self.evidence.forget_scenario()
        fit = [to_add(item) for item in items]
        for item in [item for item in fit if item.key not in self.without]:
            try:
                self._write("create", self._completed(item))
            except AlreadyExists:
                raise ScenarioError(
                    f"world.add was given {item.key} a second time: expected each object once.\n"
                    "Next: leave one of the two out, or give it another name."
                ) from None

    def serve(self, factory: Callable[[Store], Endpoint]) -> None:
        """Put another Endpoint on the wire, in place of one with the same name. If it becomes the
        front, it completes the objects that were added before."""
        self.evidence.forget_scenario()
        before = self.wire.front
        endpoint = served_by(factory, self.store)
        if (component := getattr(endpoint, "component", None)) is not None:
            switched = cast(Switched, endpoint)
            switched.switches = self.in_force.of(endpoint.name, component, switched.told)
        self.wire.serve(endpoint)
        if self.wire.front != before:
            for entry in self.store.snapshot(""):
                if isinstance(entry.value, Object):
                    self._write("update", self._completed(entry.value))

    def _completed(self, item: Object) -> Object:
        """The object with the defaults of the front; ScenarioError if the front would refuse it."""
        try:
            return cast(Front, self.wire.posts[self.wire.front].endpoint).completed(item)
        except Invalid as error:
            raise ScenarioError(
                f"world.add was given {item.key}, which {self.wire.front} refuses: {error}.\n"
                "Next: give that field a value that it may have."
            ) from error

    def _write(self, verb: str, item: Object) -> None:
        meta = item.meta
        operation = Operation(verb, item.plural, meta.name, meta.namespace, item)
        answer_at_once(self.wire.posts["store"].endpoint, operation, ASSEMBLY)

    def start(self, *actors: Actor | Callable[[], Actor], at: str | Sequence[str] = ()) -> None:
        """Start actors: frozen settings, or factories that make one for each life.

        They speak to the Endpoint `at`; without it, to the front, the first Endpoint that stands
        before the Store. If `at` names several, each life speaks to the next of them, as behind a
        load balancer.
        """
        is_one = type(at) is not tuple and (isinstance(at, str) or not isinstance(at, Sequence))
        homes: tuple[Any, ...] = (at,) if is_one and at != "" else tuple(at)
        for home in homes:
            if not isinstance(home, str) or home not in self.wire.posts:
                see = "name one of these, or world.serve(…) it before"
                raise UnknownName("Endpoint of this World", str(home), self.wire.posts, see=see)
        self.evidence.forget_scenario()
        for given in actors:
            factory = factory_of(given)
            actor = made_by(factory)
            name, switches, is_out = actor.name, None, actor.name in self.without
            if (component := actor.component) is not None:
                switches = self.in_force.of(name, component, actor.told, is_out=is_out)
                program = getattr(switches, component.program, BUILT_IN)
                if program != BUILT_IN:
                    factory = partial(in_place_of, actor, program)
                    actor = factory()
            if is_out:
                continue
            if self.attendance is not None and name in self.attendance.names:
                factory = factory_of(self.attendance.program(actor))
            if name in self.table.roles or name in self.wire.posts:
                raise ScenarioError(
                    f"two actors or Endpoints are called {name!r}: expected a name of its own.\n"
                    "Next: give one of them another name."
                )
            role = Role(name, factory, actor.rank, actor.shares_memory)
            role.switches = switches
            role.homes = tuple([self.wire.post(home).name for home in homes])
            self.table.roles[name] = role
            self.offer_start(role, 0)

    def allow(self, *faults: Fault) -> None:
        """Let these faults strike, each as often as it says."""
        self.evidence.forget_scenario()
        place = place_of_call()
        self._allowed.extend(Allowed(fault, place) for fault in faults)

    def forbid(self) -> None:
        """Let no fault strike, whatever was allowed before."""
        self._allowed.clear()

    def claim(self, *invariants: Invariant) -> None:
        """Judge the Run by these, too."""
        self.judge.claim_own(*invariants)
        if declaring := [each for each in invariants if each.reads]:
            place = place_of_call()
            self._claimed += [Claimed(each, place) for each in declaring]
        if self._levers.tally is None and any(isinstance(each, Confluent) for each in invariants):
            self._levers.tally = ServedSoFar()
            self.judge.count(self._levers.tally)

    def limit(self, **limits: Any) -> None:
        """Set limits of the Run: `turns_max=…`, `virtual_ms_max=…`, see Limits of a Run."""
        known = {field.name for field in attrs.fields(Budget)}
        for name in limits:
            if name not in known:
                see = "say world.limit(until_ms=45_000), or another of these"
                raise UnknownName("limit", name, known, see=see)
        self.budget = attrs.evolve(self.budget, **limits)

    def latency(
        self,
        what: str,
        *,
        actor: str = "*",
        at: str = "*",
        serve_ms: int | None = None,
        answer_ms: int | None = None,
        deliver_ms: int | None = None,
    ) -> None:
        """Let what it names take that long: `world.latency("bind pods", serve_ms=35_000)`.

        `what` is a verb and a kind or key, as in `watch pods` or `update pods/default/c/status`;
        `actor` and `at` say who asks and which Endpoint; all may be globs. A request takes effect
        `serve_ms` after it is asked, and its caller is told `answer_ms` later; a watch tells of a
        commit after `deliver_ms`. Of several that name the same, the last one counts.
        """
        self.evidence.forget_scenario()
        given = Latency(what, actor, at, serve_ms, answer_ms, deliver_ms, place_of_call())
        self.wire.latencies.append(given)

    # -- playing --------------------------------------------------------------------------------

    def run(
        self, chooser: Chooser, *, driver: str = "trio", trace: Trace | None = None, number: int = 0
    ) -> Verdict:
        """Drive it to its end; returns what that has shown."""
        if not self.prepare(chooser, trace=trace, number=number):
            raise ScenarioError(f"{type(chooser).__name__} has no Run left to play")
        play_all([self], driver=driver)
        assert self.verdict is not None
        return self.verdict

    async def play(
        self, chooser: Chooser, *, trace: Trace | None = None, number: int = 0
    ) -> Verdict:
        """The same as `run`, within a `trio.run` that is already there."""
        if not self.prepare(chooser, trace=trace, number=number):
            raise ScenarioError(f"{type(chooser).__name__} has no Run left to play")
        try:
            with noticing() as noticed, Watchdog() as dog, watched(dog, self.table):
                noticed.table = self.table
                await trio.play_async(self.table)
        finally:
            self.close()
        self.conclude()
        assert self.verdict is not None
        return self.verdict

    def prepare(self, chooser: Chooser, *, trace: Trace | None = None, number: int = 0) -> bool:
        """Make ready the one Run, under this Chooser; False if the Chooser has no Run left."""
        if self._play is not None:
            raise ScenarioError("a World is run once and thrown away; assemble another one")
        if self.attendance is not None and self.attendance.guests:
            # Those who attend to them end the Run, also after a Violation.
            self.start(*(self.attendance.program(Actor(name)) for name in self.attendance.guests))
            self.budget, self.goes_on = UNBOUNDED, True
        self.in_force.check(self.scenario)
        budget, names = self.budget, (*self.table.roles, *self.without)
        check_names(self.wire.latencies, names, self.wire.posts)
        check_lateness(budget, self.allowed)
        # What is allowed beside is checked by who allows it: a race file may speak of an actor that
        # is no more, and then says so of its line.
        for allowed in [each for each in self._allowed if each.fault not in self.beside]:
            with at_place(allowed.place):
                check_aim(allowed.fault, (*names, *self.wire.posts))
        if claims := unsure(self._claimed):
            keys = [*self.without, *(entry.key for entry in self.store.snapshot(""))]
            check_reads(claims, names, keys, self.wire.posts)
        info = RunInfo(
            self.scenario, number, self.faults_max, self.turns_expected, self._is_up,
            budget.delay_max_ms, self.switches, budget.turns_max, budget.instant_turns_max,
            self.wire.shares,
        )  # fmt: skip
        if (plan := chooser.begin(info)) is None:
            return False
        self.trace = trace or Trace({})
        self.trace.header.update(header_of(self))
        self.trace.played_in = self if self.trace.keep else None
        self.chooser = chooser
        self._play = Play(self, chooser, plan, self.trace)
        self._play.begin()
        return True

    def close(self) -> None:
        """Let go of the real programs that have taken part."""
        if self.attendance is not None:
            self.attendance.close()

    def conclude(self) -> None:
        """Called after the teardown: raise the error that ended the Run, unwrapped, if one did."""
        assert self._play is not None
        self._play.conclude()

    @property
    def verdict(self) -> Verdict | None:
        """What the Run has shown; None until it has ended."""
        return None if self._play is None else self._play.verdict

    # -- what its Play asks of it ---------------------------------------------------------------

    @property
    def allowed(self) -> list[Fault]:
        """The faults that may strike, in the order in which they were allowed."""
        return [allowed.fault for allowed in self._allowed]

    @property
    def faults_max(self) -> int:
        """How many faults may strike in its Run."""
        return sum(allowed.fault.times_max for allowed in self._allowed)

    @property
    def faults_struck(self) -> int:
        """How many faults have struck by now."""
        return sum(allowed.struck for allowed in self._allowed)

    @property
    def hits(self) -> list[Hit]:
        """The faults that have struck by now, oldest first, and where each of them did."""
        return self._levers.hits

    @property
    def here(self) -> Whereabouts:
        """How far all actors and Endpoints have come; for the testbed itself."""
        return self._levers.here

    def find_faults(self) -> list[Option]:
        """Every fault that could strike now; worked out only when a Chooser looks."""
        return [o for allowed in self._allowed for o in allowed.options(self._levers)]

    def offer_start(self, role: Role, after_ms: int) -> None:
        """Offer the next life of an actor, that much later."""
        table = self.table
        role.is_starting = True
        begin = partial(self._begin_life, role)
        path, due_ms = f"{role.name}/main", table.now_ms + after_ms
        option = Option(START, path, begin, causes=(table.step,), due_ms=due_ms, actor=role.name)
        option.nth = role.lives + 1
        option.may_touch = lambda: role.may
        table.offer(option)

    def _begin_life(self, role: Role) -> Seat | None:
        """Make the actor, and let its main task move; None if it runs already."""
        role.is_starting = False
        if role.is_up:
            return None
        if role.homes:
            role.home = role.homes[role.lives % len(role.homes)]
        actor = role.actor = role.factory()
        life = self.table.begin_life(
            role, lambda: actor.run(self.client_for(self.table, self.wire, life))
        )
        return life.seats[f"{role.name}/main"]

    def _is_up(self, name: str) -> bool:
        there = (self.table.roles.get(name), self.wire.posts.get(name))
        return any(each is not None and each.is_up for each in there)
