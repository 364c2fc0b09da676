"""Assembly: what a World is made of, put together before anything moves.

Objects are added to the Store, Endpoints put on the wire, actors started, faults allowed,
invariants claimed, limits set. It is the same assembly each time: nothing here chooses.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Any, cast

import attrs

from testbed.client.actor import Actor, factory_of
from testbed.client.client import Client
from testbed.client.wire import Wire
from testbed.errors import ScenarioError, UnknownName
from testbed.fault import Allowed, Fault, Levers
from testbed.invariant import Evidence, Invariant
from testbed.invariants.caches import CachesEqualTheStore
from testbed.invariants.history import RevisionsIncrease
from testbed.invariants.progress import NoActorDies, NobodyIsStuck
from testbed.invariants.watches import WatchesAreGapFree
from testbed.objects.meta import Object
from testbed.policy import BUILT_IN, in_place_of
from testbed.store.endpoint import Endpoint, Front, Operation, Switched, answer_at_once
from testbed.store.store import Store
from testbed.store.store_endpoint import ASSEMBLY, StoreEndpoint
from testbed.turns.life import Role, Seat
from testbed.turns.option import START, Option
from testbed.turns.table import Table
from testbed.world.budget import Budget
from testbed.world.in_force import InForce
from testbed.world.judge import Judge


class Assembly:
    """Everything of a World but its loop: `add` objects, `serve` Endpoints, `start` actors,
    `allow` faults, `claim` invariants, `limit` it."""

    def __init__(
        self,
        scenario: str = "world",
        switches: dict[str, Any] | None = None,
        *,
        store: Store | None = None,
        audit: bool = False,
        without: Iterable[str] = (),
    ) -> None:
        self.scenario = scenario
        self.switches = switches or {}
        self.in_force = InForce(self.switches)
        """What its components are switched to."""
        self.without = frozenset(without)
        """Actors and objects that are left out, by name and by key."""
        self.store = Store() if store is None else store
        self.table = table = Table()
        table.audits = audit
        self.wire = Wire(table)
        self.evidence = Evidence(table, self.wire, self.store)
        self.judge = Judge(table, self.wire, self.evidence)
        self.budget = Budget()
        self.needs_no_race: str = ""
        """Why even its calm run is violated, if the scenario says so."""
        self.goes_on = False
        """Whether the Run goes on after a Violation."""
        table.begin_again = self._offer_start
        self._levers = Levers(table, self.wire, self.store, self._offer_start)
        self._allowed: list[Allowed] = []
        self.store.marks = table.marks
        self.store.clock = lambda: table.now_ms
        self.wire.serve(StoreEndpoint(self.store))
        self.claim(RevisionsIncrease(), WatchesAreGapFree(), CachesEqualTheStore())
        self.claim(NoActorDies(), NobodyIsStuck())

    def add(self, *items: Object) -> None:
        """Put objects into the Store before anything moves, in this order; as if they had come by
        whoever stands before it, but with the status, identity and age that they say they have."""
        self.evidence.forget_scenario()
        for item in [item for item in items if item.key not in self.without]:
            self._write("create", self._front.completed(item))

    def serve(self, factory: Callable[[Store], Endpoint]) -> None:
        """Put another Endpoint on the wire; one of the same name is replaced. What has been added
        is completed by the first that stands before the Store."""
        self.evidence.forget_scenario()
        before = self.wire.front
        endpoint = factory(self.store)
        if (component := getattr(endpoint, "component", None)) is not None:
            switched = cast(Switched, endpoint)
            switched.switches = self.in_force.of(endpoint.name, component, switched.told)
        self.wire.serve(endpoint)
        if self.wire.front != before:
            for entry in self.store.snapshot(""):
                if isinstance(entry.value, Object):
                    self._write("update", self._front.completed(entry.value))

    @property
    def _front(self) -> Front:
        return cast(Front, self.wire.posts[self.wire.front].endpoint)

    def _write(self, verb: str, item: Object) -> None:
        meta = item.meta
        operation = Operation(verb, item.plural, meta.name, meta.namespace, item)
        answer_at_once(self.wire.posts["store"].endpoint, operation, ASSEMBLY)

    def start(self, *actors: Actor | Callable[[], Actor], at: str | Sequence[str] = ()) -> None:
        """Start actors: frozen settings, or factories called anew for each life. They speak to the
        Endpoint `at`, if one is named, else to the first that stands before the Store; if several
        are, one life after another to the next of them, as a load balancer has it."""
        homes = (at,) if isinstance(at, str) else tuple(at)
        self.evidence.forget_scenario()
        for given in actors:
            factory = factory_of(given)
            actor = factory()
            name, switches = actor.name, None
            is_out = name in self.without
            if (component := actor.component) is not None:
                switches = self.in_force.of(name, component, actor.told, is_out=is_out)
                program = getattr(switches, component.program, BUILT_IN)
                if program != BUILT_IN:
                    factory = partial(in_place_of, actor, program)
                    actor = factory()
            if is_out:
                continue
            if name in self.table.roles or name in self.wire.posts:
                raise ScenarioError(f"two actors are called {name!r}; give each its own name")
            role = Role(name, factory, actor.rank, actor.shares_memory)
            role.switches = switches
            role.homes = tuple([self.wire.post(home).name for home in homes])
            self.table.roles[name] = role
            self._offer_start(role, 0)

    def allow(self, *faults: Fault) -> None:
        """Let these faults strike, each as often as it says."""
        self.evidence.forget_scenario()
        self._allowed.extend(Allowed(fault) for fault in faults)

    @property
    def faults_max(self) -> int:
        """How many faults may strike in its Run."""
        return sum(allowed.fault.times_max for allowed in self._allowed)

    def forbid(self) -> None:
        """Let no fault strike, whatever was allowed before."""
        self._allowed.clear()

    def claim(self, *invariants: Invariant) -> None:
        """Judge the Run by these, too."""
        self.judge.claim(*invariants)

    def limit(self, **limits: Any) -> None:
        """Set limits of the Run: `turns_max=…`, `virtual_ms_max=…`, see Budget."""
        known = {field.name for field in attrs.fields(Budget)}
        for name in limits:
            if name not in known:
                raise UnknownName("limit", name, known)
        self.budget = attrs.evolve(self.budget, **limits)

    def _offer_start(self, role: Role, after_ms: int) -> None:
        table = self.table
        role.is_starting = True
        nth = role.lives + 1
        option = Option(
            START, f"{role.name}/main", partial(self._begin_life, role), (table.step,),
            table.now_ms + after_ms, role.name, "", "", "", nth, may=lambda: role.may,
        )  # fmt: skip
        table.offer(option)

    def _begin_life(self, role: Role) -> Seat | None:
        """Make the actor anew, and let its main task move."""
        role.is_starting = False
        if role.is_up:
            return None
        if role.homes:
            role.home = role.homes[role.lives % len(role.homes)]
        actor = role.actor = role.factory()
        life = self.table.begin_life(role, lambda: actor.run(Client(self.table, self.wire, life)))
        return life.seats[f"{role.name}/main"]
