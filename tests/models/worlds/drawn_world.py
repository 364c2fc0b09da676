"""A drawn World as plain data: who does what, who answers, what may strike, what is claimed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import attrs

from actors.apiserver import ApiServer
from testbed.client.client import Client
from testbed.fault import Fault
from testbed.objects import Object, PodDisruptionBudget, PodDisruptionBudgetSpec
from testbed.objects.labels import LabelSelector
from testbed.objects.meta import Map
from testbed.store.store import Store
from testbed.store.store_endpoint import StoreEndpoint
from testbed.world.fault_kinds import is_aimed
from testbed.world.scenario import Scenario, of
from testbed.world.world import World
from tests.models.restless import doing_rounds
from tests.models.worlds import doing_looks, doing_verbs, doing_waits
from tests.models.worlds.doing import WORDS, Action, Desk, Shared, made
from tests.models.worlds.drawn_claims import Claimed
from tests.models.worlds.drawn_endpoints import ENDPOINTS, Gate
from tests.shared.stage import Apart, Puppet

TURNS_MAX = 60
"""How long a Run may be: a Cache whose server is gone asks for it again and again."""
WORD_ROOMS = (doing_verbs, doing_waits, doing_looks, doing_rounds)
"""Where the words are; to import them makes them known."""


@attrs.frozen
class Program:
    """One actor as data."""

    actions: tuple[Action, ...]
    apart: bool = False
    """Whether it says that its tasks share no memory."""
    at: tuple[str, ...] = ()
    """The Endpoints that its lives speak to, one after another; none: the front."""


@attrs.frozen
class Drawn:
    """A World as data; its repr is Python that makes it again."""

    programs: tuple[Program, ...]
    server: str = "store"
    """A word of SERVERS."""
    endpoints: tuple[str, ...] = ()
    things: tuple[tuple[str, str], ...] = (("note", "x"),)
    """Which objects are there at first: kind and name."""
    faults: tuple[Fault, ...] = ()
    claims: tuple[Claimed, ...] = ()
    limits: dict[str, int] = attrs.Factory(dict)
    latencies: tuple[dict[str, Any], ...] = ()

    def scenario(self) -> Scenario:
        """It as a Scenario."""
        return of(self.build, "drawn")

    def build(self, world: World) -> None:
        """Assemble it."""
        for factory in SERVERS[self.server]:
            world.serve(factory)
        for word in self.endpoints:
            world.serve(ENDPOINTS[word])
        for kind, name in self.things:
            world.add(_thing(kind, name))
        for place, program in enumerate(self.programs):
            kind_of_actor = Apart if program.apart else Puppet
            world.start(kind_of_actor("abc"[place], _playing(program)), at=program.at)
        # One that is aimed at what a shrink has taken away would be refused.
        names = (*world.table.roles, *world.wire.posts)
        world.allow(*[fault for fault in self.faults if is_aimed(fault, names)])
        world.limit(**{"turns_max": TURNS_MAX, **self.limits})
        for given in self.latencies:
            world.latency(**given)
        world.claim(*[claim.made(world.evidence) for claim in self.claims])

    @property
    def size(self) -> int:
        """How much there is to take away."""
        return len(repr(self))


def _playing(program: Program) -> Callable[[Client], Any]:
    async def play(client: Client) -> None:
        await Desk(client, Shared(client), "main").do(program.actions)

    return play


def _thing(kind: str, name: str) -> Object:
    if kind == "budget":
        spec = PodDisruptionBudgetSpec(selector=LabelSelector(Map(hue="red")), min_available=0)
        return PodDisruptionBudget(name, spec=spec)
    return made(kind, name, "red" if kind == "pod" else "first", {"hue": "red"})  # type: ignore[no-any-return]


def _api(**given: Any) -> Callable[[Store], Any]:
    return lambda store: ApiServer(store, **given)


SERVERS: dict[str, tuple[Callable[[Store], Any], ...]] = {
    "store": (),
    "lagging": (lambda store: StoreEndpoint(store, "store", lags=("notes",), lag_ms=0),),
    "later": (lambda store: StoreEndpoint(store, "store", lags=("notes",), lag_ms=5),),
    "lags long": (lambda store: StoreEndpoint(store, "store", lags=("notes",), lag_ms=15_000),),
    "api": (_api(),),
    "late api": (_api(lags=("notes", "pods"), lag_ms=5),),
    "gate": (lambda store: Gate(store, "gate"),),
    "two apis": (_api(), _api(name="api-2", lags=("notes",))),
}
"""What stands before the Store, in which way it lags."""


def words_of(actions: tuple[Action, ...]) -> set[str]:
    """All words in these actions, those of tasks that they spawn among them."""
    found = set()
    for word, given in actions:
        assert word in WORDS, word
        found.add(word)
        found |= words_of(given.get("actions", ()))
    return found
