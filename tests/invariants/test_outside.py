"""What an actor or a verdict goes by outside the Store and its own memory keeps a Run awake."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import attrs

from testbed import Client, Evidence, World, always, quiescent
from testbed.chooser import Chooser, Plan, RunInfo
from testbed.choosers.calm import Calm
from testbed.client.cache import Cache
from testbed.invariant import SERVED, TURN, Invariant
from testbed.invariants.lasso.outside import answers_by_time
from testbed.objects import Event, Note
from testbed.objects.reference import Reference
from testbed.store.endpoint import Handler, Operation
from testbed.store.store import Store
from testbed.store.store_endpoint import StoreEndpoint
from testbed.turns.option import Choice, HoldBack, Release
from testbed.turns.pending import Alternatives, Options
from testbed.turns.verdict import Verdict
from tests.each_row import each_row
from tests.shared.stage import Doing, Puppet, note


def calm(world: World) -> Verdict:
    """Its calm run."""
    return world.run(Calm(), driver="direct")


def world_of(*endpoints: Callable[[Store], Any], **actors: Doing) -> World:
    """A World with one note, and actors that do that."""
    world = World("test")
    for endpoint in endpoints:
        world.serve(endpoint)
    world.add(note(a="0"))
    world.limit(virtual_ms_max=120_000)
    world.start(*(Puppet(name, run) for name, run in actors.items()))
    return world


async def write(client: Client) -> None:
    """Change the note."""
    found = await client.get(Note, "n")
    await client.update(found.saying(a="written"))


def note_says(world: World) -> str:
    """What the note says at the end."""
    entry: Any = world.store.peek("notes/default/n")
    said: str = entry.value.data["a"]
    return said


async def looks(client: Client) -> None:
    """Looks at the note every second."""
    while True:
        await client.get(Note, "n")
        await client.sleep(1_000)


# -- what comes late -----------------------------------------------------------------------------


def lagging(store: Store) -> StoreEndpoint:
    """Hears of notes after a quarter of a minute."""
    return StoreEndpoint(store, "store", lags=("notes",), lag_ms=15_000)


async def mends_by_its_cache(client: Client) -> None:
    """Looks into its Cache every second, and acts once."""
    cache: Cache[Note] = Cache(client, Note)
    await cache.synced()
    while cache.known["notes/default/n"].data["a"] != "written":
        await client.sleep(1_000)
    found = await client.get(Note, "n")
    await client.update(found.saying(a="mended"))


def test_what_a_server_tells_late_is_a_change() -> None:
    """Though the write of which it tells is long ago, and all have gone round since."""

    async def spoils(client: Client) -> None:
        await client.sleep(500)
        await write(client)

    world = world_of(lagging, a=mends_by_its_cache, b=spoils)
    calm(world)
    assert note_says(world) == "mended"


class Holds(Chooser):
    """Calm, but holds the first answer back that is ready at a time, until it must let it go."""

    def __init__(self, at_ms: int) -> None:
        self.at_ms = at_ms
        self.is_done = False

    def begin(self, run: RunInfo) -> Plan | None:
        return Plan("holds")

    def choose(self, options: Options | Alternatives) -> Choice:
        if not isinstance(options, Options):
            return 0
        if not options.ready:
            return Release(0)
        is_it = options[0].kind == "answer" and options.now_ms >= self.at_ms
        if is_it and not self.is_done:
            self.is_done = True
            return HoldBack(0)
        return 0


def test_what_is_let_go_at_last_is_a_change() -> None:
    """An answer to one task comes when the other has gone round for long, and is told of it."""

    async def run(client: Client) -> None:
        found: list[Note] = []

        async def asks() -> None:
            found.append(await client.get(Note, "n"))

        client.spawn("asks", asks)
        while not found:
            await client.sleep(1_000)
        await write(client)

    world = world_of(a=run)
    world.run(Holds(0), driver="direct")
    assert note_says(world) == "written"


# -- what others report ----------------------------------------------------------------------------


async def reports(client: Client) -> None:
    """Counts on in an Event every second, and remembers nothing."""
    await client.create(Event("e", involved=Reference(name="n")))
    while True:
        known = await client.get(Event, "e")
        await client.update(attrs.evolve(known, count=known.count + 1))
        del known
        await client.sleep(1_000)


def test_an_event_counts_for_who_asks_for_events() -> None:
    """Who goes by what another one reports is waited for; who reports for people is not."""

    async def goes_by_it(client: Client) -> None:
        await client.sleep(10)
        while (await client.get(Event, "e")).count < 20:
            await client.sleep(1_000)
        await write(client)

    world = world_of(a=reports, b=goes_by_it)
    calm(world)
    assert note_says(world) == "written"


# -- what Endpoints hold -------------------------------------------------------------------------


class Dial(StoreEndpoint):
    """Has ten positions, and moves on by one at each request."""

    def __init__(self, store: Store) -> None:
        super().__init__(store, "dial")
        self.at = 0

    def handle(self, operation: Operation, caller: str, now_ms: int) -> Handler:
        if operation.verb != "turn":
            return (yield from super().handle(operation, caller, now_ms))
        self.at = (self.at + 1) % 10
        return self.at


def turns_it(every_ms: int, act_at: int | None) -> Doing:
    """Turns the dial that often; acts if it comes to that."""

    async def run(client: Client) -> None:
        while await client.ask(Operation("turn", endpoint="dial")) != act_at:
            await client.sleep(every_ms)
        await write(client)

    return run


def test_who_turns_one_dial_with_others_is_waited_for() -> None:
    """Each by itself comes back to the same position after five rounds; yet their rounds differ by
    a hundredth, and so in the end one of them finds another."""
    world = world_of(Dial, a=turns_it(1_000, 4), b=turns_it(1_010, None))
    calm(world)
    assert note_says(world) == "written"
    world = world_of(Dial, a=turns_it(1_000, 10))
    assert calm(world).end == "quiet"


class Timed(Dial):
    """Answers by the time."""

    def handle(self, operation: Operation, caller: str, now_ms: int) -> Handler:
        if operation.verb == "turn":
            return now_ms // 30_000
        return (yield from super().handle(operation, caller, now_ms))


def test_who_asks_an_endpoint_that_answers_by_the_time_is_waited_for() -> None:
    """As if it had looked at a clock itself."""
    assert [answers_by_time(kind) for kind in (StoreEndpoint, Dial, Timed)] == [False, False, True]
    world = world_of(Timed, a=turns_it(1_000, 1))
    calm(world)
    assert note_says(world) == "written"


# -- what claims hold, and read ------------------------------------------------------------------


class Counts(Invariant):
    """Is breached at the fortieth look."""

    name = "counts"

    def __init__(self) -> None:
        self.looks = 0

    def look(self, step: object, evidence: Evidence) -> str | None:
        self.looks += 1
        return "too many" if self.looks >= 40 else None


@each_row("occasion", [TURN, SERVED])
def test_a_claim_that_counts_is_waited_for(occasion: str) -> None:
    """Whatever it counts that comes again and again."""
    kind: Any = type("Counting", (Counts,), {"looks_at": frozenset({occasion})})
    world = world_of(a=looks)
    world.claim(kind())
    assert calm(world).is_violated


def records_few(see: Evidence) -> str | None:
    """No more than ten records."""
    return "too many" if len(see.records) > 10 else None


def ends_early(see: Evidence) -> str | None:
    """Half a minute at most."""
    return "too late" if see.now_ms > 30_000 else None


def test_a_claim_that_goes_at_the_end_by_what_grows_finds_no_end() -> None:
    """Held would depend on when the Run is judged, so that has to be said."""

    async def records(client: Client) -> None:
        while True:
            client.record("looked")
            await client.sleep(1_000)

    for claim, run in ((records_few, records), (ends_early, looks)):
        world = world_of(a=run)
        world.claim(quiescent(claim))
        assert calm(world).outcome == "undecided"
        world = world_of(a=run)
        world.claim(quiescent(claim))
        world.limit(until_ms=45_000)
        assert calm(world).is_violated
    world = world_of(a=looks)
    world.claim(quiescent(records_few), always(records_few))
    assert calm(world).end == "quiet"


# -- where an actor may hide what it keeps ---------------------------------------------------------


def test_a_count_on_a_function_is_seen() -> None:
    """As an attribute of the function itself."""

    async def run(client: Client) -> None:
        def ask() -> int:
            times: int = ask.__dict__.get("times", 0) + 1
            ask.__dict__["times"] = times
            return times

        while ask() < 20:
            await client.sleep(1_000)
        await write(client)

    world = world_of(a=run)
    calm(world)
    assert note_says(world) == "written"
