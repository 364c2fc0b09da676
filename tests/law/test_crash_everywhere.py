"""A crash at every turn of everybody, one Run each: the Store stays whole and the World goes on."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from itertools import product
from typing import Any

import pytest

from testbed.choosers.struck import Struck
from testbed.client.cache import Cache
from testbed.client.client import Client
from testbed.errors import ApiError, Conflict, ScenarioError
from testbed.faults.crash import Crash
from testbed.objects import Note
from testbed.store.change import Change
from testbed.store.endpoint import BETWEEN, Handler, Operation
from testbed.store.store import Store
from testbed.store.store_endpoint import StoreEndpoint
from testbed.turns.option import FAULT, SERVE, START
from testbed.turns.trace import Step, Trace
from testbed.turns.verdict import Verdict
from testbed.world.scenario import Scenario, known, of
from testbed.world.world import World
from tests.each_row import each_row
from tests.models.worlds.recipes import BUSY
from tests.shared.stage import Doing, Puppet, note
from tests.shared.strike import at_every_turn

Way = tuple[str, int | None]
"""Under which driver, and after how many milliseconds of virtual time it comes back."""

DRIVERS = ("trio", "direct")
BUILT_IN = {
    "revisions_increase", "watches_are_gap_free", "caches_equal_the_store", "no_actor_dies",
    "nobody_is_stuck",
}  # fmt: skip
RESTARTS = {"never": None, "now": 0, "soon": 10}
SHORT = (("trio", None), ("direct", 0), ("trio", 10))
"""Each driver and each restart, for the two do not touch each other; the rest is `long`."""
ALL = tuple(product(DRIVERS, RESTARTS.values()))


# -- what must hold after each of them ----------------------------------------------------------


def look(world: World, target: str) -> None:
    """The Run is over: nothing of the dead life has acted, nothing is left, the Store is whole."""
    verdict = world.verdict
    assert verdict is not None
    assert not {violation.invariant for violation in verdict.violations} & BUILT_IN, str(verdict)
    assert verdict.outcome != "undecided", str(verdict)
    nothing_was_done_by_the_dead(world.trace.steps, target)
    the_store_is_whole(world.store)
    for role in world.table.roles.values():
        assert not role.is_up
        assert role.life is None or not role.life.seats
    assert not world.table.dying
    assert not world.wire.streams.open


def nothing_was_done_by_the_dead(steps: list[Step], target: str) -> None:
    """Between its crash and its next start no task of the actor moves, and what is served of it
    was asked for before the crash: in the turn of the crash itself it could ask nothing."""
    died_at: int | None = None
    dead: list[range] = []
    for step in steps:
        if step.kind == FAULT and step.option.key == target:
            died_at = step.number
        elif step.kind == START and step.sentence.path == f"{target}/main":
            if died_at is not None:
                dead.append(range(died_at, step.number))
            died_at = None
        elif step.option.actor == target and died_at is not None:
            assert step.kind == SERVE, f"{step.sentence} after the crash in step {died_at}"
    if died_at is not None:
        dead.append(range(died_at, len(steps) + 1))
    for step in steps:
        if step.kind == SERVE and step.option.actor == target and "." not in step.option.verb:
            asked_at = step.causes[-1]
            assert not any(asked_at in span for span in dead), f"{step.sentence}: asked when dead"


def the_store_is_whole(store: Store) -> None:
    """Revisions increase, but within one transaction; each object bears that of its last Change,
    and the history adds up to what is there."""
    state: dict[str, object] = {}
    last = 0
    written: set[str] = set()
    for change in store.log("notes").after(0):
        assert isinstance(change, Change)
        assert change.revision > last or change.key not in written
        assert change.revision >= last
        written = {change.key, *(written if change.revision == last else ())}
        last = change.revision
        before = state.get(change.key)
        assert before == (change.before)
        if change.new is None:
            del state[change.key]
        else:
            assert isinstance(change.new.value, Note)
            assert str(change.new.value.meta.revision) == str(change.revision)
            state[change.key] = change.new.value
    assert state == {entry.key: entry.value for entry in store.snapshot("notes/")}


def sweep(
    scenario: Scenario,
    target: str,
    restart_after_ms: int | None,
    driver: str,
    *,
    guard: bool,
    stride: int,
) -> list[Verdict]:
    """One Run for each turn of the calm one, or for one of so many, with a crash of that target
    there; how each ended."""
    verdicts: list[Verdict] = []

    def play(chooser: Struck) -> None:
        world = scenario.world({"guard": guard} if "guard" in scenario.switches else {})
        world.allow(Crash(target, restart_after_ms=restart_after_ms))
        if scenario.name == "starvation":  # without its kubelet, the FIFO queue tries for ever
            world.limit(until_ms=120_000)
        world.run(chooser, driver=driver, trace=Trace({}, keep=True))
        look(world, target)
        assert world.verdict is not None
        assert world.verdict.faults == chooser.has_struck
        verdicts.append(world.verdict)

    runs = at_every_turn(f"crash {target}", play, stride=stride)
    struck = sum(chooser.has_struck for chooser in runs)
    assert struck >= 2 or stride > 1
    return verdicts


# -- the scenarios that come with the testbed ---------------------------------------------------


STRIDES = {
    "crash_and_resync": 97, "daemonset_preemption": 83, "descheduler_pingpong": 61,
    "grace_gap": 61, "hostile_schedulers": 97, "leader_overlap": 29, "out_of_cpu": 97,
    "own_writes_unseen": 5, "partitioned_node": 61, "pdb_overspent": 61, "pressure_pingpong": 67,
    "restart_readmission": 61, "rollout_and_preemption": 97, "starvation": 127, "stolen_slot": 83,
    "time_travel": 3,
}  # fmt: skip
"""Where a Run has hundreds of turns the crash is at one of so many; at each in `long` tests."""
EACH = [
    *((s.name, s, STRIDES.get(s.name, 1), s.name not in BUSY) for s in known() if s.has_guard),
    *((f"{s.name}-each", s, 1, False) for s in known() if s.name in STRIDES),
]
"""By name: a scenario, at one turn of how many it is struck, and whether that is not `long`."""


def long(name: str, *values: object) -> Any:
    """The parameters of a test in its long form."""
    return pytest.param(*values, id=f"{name}-long", marks=pytest.mark.long)


EVERY = pytest.mark.parametrize(
    ("scenario", "stride", "ways"),
    [
        *(
            pytest.param(each, n, SHORT[1:], id=name)
            for name, each, n, is_short in EACH
            if is_short
        ),
        *(long(name, each, n, ALL) for name, each, n, _ in EACH),
    ],
)
"""Who never comes back is crashed where the guard is off, and in the long form."""


@EVERY
def test_a_scenario_stands_a_crash_at_every_turn(
    scenario: Scenario, stride: int, ways: Sequence[Way]
) -> None:
    """Of each of its actors; guarded, it holds all its claims."""
    for driver, restart_after_ms in ways:
        struck = 0
        for target in scenario.world().table.roles:
            verdicts = sweep(scenario, target, restart_after_ms, driver, guard=True, stride=stride)
            assert all(verdict.is_held for verdict in verdicts)
            struck += sum(verdict.faults for verdict in verdicts)
        assert struck >= 2


ONE_SIDE = {
    "tug_of_war": ("gitops",), "hostile_schedulers": ("alpha",),
    "descheduler_pingpong": ("descheduler",),
}  # fmt: skip
"""Both of its sides are one program, and each of its Runs goes on until a lap is proved."""


def unguarded() -> Iterator[Any]:
    """Scenarios, and by what way to crash the actors of each; what is left out is `long`."""
    for name, scenario, stride, is_brief in EACH:
        if scenario.name in ("add_remove_loop", "late_short_write", "pressure_pingpong"):
            continue
        if is_brief and scenario.name not in ONE_SIDE:
            yield pytest.param(scenario, stride, SHORT[:1], False, id=name)
        yield long(name, scenario, stride, SHORT, False)
        if scenario.name in ONE_SIDE:
            yield long(f"{name}+", scenario, stride, SHORT, True)


@pytest.mark.parametrize(("scenario", "stride", "ways", "is_other_side"), list(unguarded()))
def test_an_unguarded_scenario_stands_a_crash_at_every_turn(
    scenario: Scenario, stride: int, ways: Sequence[Way], is_other_side: bool
) -> None:
    """Its own claim may be breached by it, but nothing that every World claims."""
    roles = tuple(scenario.world().table.roles)
    one = ONE_SIDE.get(scenario.name, roles)
    for driver, restart_after_ms in ways:
        struck = 0
        for target in [role for role in roles if (role not in one) == is_other_side]:
            verdicts = sweep(scenario, target, restart_after_ms, driver, guard=False, stride=stride)
            struck += sum(verdict.faults for verdict in verdicts)
        assert struck >= 2


async def persists(client: Client) -> None:
    """Reads and writes, and asks again when it gets no answer."""
    for n in range(3):
        while True:
            try:
                seen = await client.get(Note, "n")
                await client.update(seen.saying(**{client.name: str(n)}))
                break
            except Conflict:
                continue
            except ApiError:
                await client.sleep(4, "retry")


def outage(world: World) -> None:
    """Two actors that survive the loss of their Store's Endpoint."""
    world.add(note())
    world.start(Puppet("alpha", persists), Puppet("beta", persists))


@pytest.mark.parametrize("driver", DRIVERS)
@pytest.mark.parametrize("restart_after_ms", [0, 10], ids=["now", "soon"])
def test_the_stores_endpoint_may_crash_at_every_turn(driver: str, restart_after_ms: int) -> None:
    """Its callers are told, and none is told that nothing happened when something did: in the end
    each has written what it meant to, once or again."""
    written: list[str] = []

    def play(chooser: Struck) -> None:
        world = of(outage).world()
        world.allow(Crash("store", restart_after_ms=restart_after_ms))
        assert world.run(chooser, driver=driver, trace=Trace({}, keep=True)).is_held
        look(world, "store")
        entry = world.store.peek("notes/default/n")
        assert entry is not None
        assert isinstance(entry.value, Note)
        written.append(str(sorted(entry.value.data.items())))

    struck = [chooser.has_struck for chooser in at_every_turn("crash store", play)]
    assert sum(struck) >= 25
    assert set(written) == {"[('alpha', '2'), ('beta', '2')]"}


@EVERY
def test_a_scenario_ends_when_its_stores_endpoint_crashes_at_any_turn(
    scenario: Scenario, stride: int, ways: Sequence[Way]
) -> None:
    """An actor that does not retry dies of it, and that is told; nothing of the Store is lost,
    nobody hangs, and whoever was not touched goes on. A Cache tries again for ever."""
    for driver, restart_after_ms in ways:
        ends = ends_without_a_store(scenario, stride, driver, restart_after_ms)
        limits = () if restart_after_ms is not None else ("virtual_ms_max",)
        assert all(end == "quiet" or end.startswith(limits) for end in ends), ends


def ends_without_a_store(
    scenario: Scenario, stride: int, driver: str, restart_after_ms: int | None
) -> set[str]:
    """How its Runs end, each with a crash of the Store's Endpoint at another turn."""
    ends: set[str] = set()

    def play(chooser: Struck) -> None:
        world = scenario.world({"guard": True})
        world.allow(Crash("store", restart_after_ms=restart_after_ms))
        world.limit(virtual_ms_max=600_000)
        world.goes_on = True
        verdict = world.run(chooser, driver=driver, trace=Trace({}, keep=True))
        the_store_is_whole(world.store)
        assert {violation.invariant for violation in verdict.violations} <= {"no_actor_dies"}
        assert all("Unavailable" in violation.said for violation in verdict.violations)
        ends.add(verdict.end)

    runs = at_every_turn("crash store", play, stride=stride)
    assert sum(chooser.has_struck for chooser in runs) >= (7 if stride == 1 else 2)
    return ends


# -- actors with nasty traits -------------------------------------------------------------------


async def clears_up(client: Client) -> None:
    """Holds `try/finally` with awaits and writes in it, twice over."""
    for n in range(2):
        try:
            await client.create(note(f"{client.name}-{n}", state="held"))
            try:
                await client.sleep(5)
            finally:
                await client.sleep(1)
                await client.update(note(f"{client.name}-{n}", state="free"))
        finally:
            client.record("freed", n=n)
            await client.get(Note, "n")


async def spawns_five(client: Client) -> None:
    """Five tasks that write, each in its own time, and are joined."""

    async def writes(n: int) -> None:
        try:
            await client.sleep(n % 3)
            with suppress(ApiError):
                await client.create(note(f"{client.name}-{n}"))
        finally:
            ended.set()

    ended = client.signal("ended")
    tasks = [client.spawn(f"task-{n}", writes, n) for n in range(5)]
    await ended.wait()
    for task in tasks:
        await client.join(task)


async def hands_on(client: Client) -> None:
    """A Cache, whose handlers fill a queue that its `finally` fills as well."""
    cache = Cache(client, Note)
    inbox = client.queue("inbox", idle=True)
    cache.on(add=lambda new: inbox.put(new.meta.name))

    async def takes() -> None:
        try:
            while True:
                name = await inbox.get()
                with suppress(ApiError):
                    await client.update(note(name, by=client.name), whatever_it_was=True)
        finally:
            inbox.put("last")

    for _ in range(2):
        client.spawn("takes", takes)
    await cache.synced()


async def gives_up(client: Client) -> None:
    """Deadlines that pass, watches that are dropped, tasks that are cancelled."""
    for n in range(2):
        with suppress(ApiError):
            await client.update(note("n", n=str(n)), timeout_ms=0, whatever_it_was=True)
        stream = await client.watch(Note, (await client.list(Note)).revision)
        await client.first(stream.next(), client.sleep(2))
        stream.close()
        task = client.spawn("naps", client_sleeps, client)
        await client.sleep(1)
        client.cancel(task)
        await client.join(task)


async def client_sleeps(client: Client) -> None:
    """Sleeps for long, and once more on the way out."""
    try:
        await client.sleep(1000)
    finally:
        await client.sleep(1)


async def asks_the_slow_one(client: Client) -> None:
    """Writes by way of an Endpoint that takes two turns for it, and sends messages."""
    for n in range(2):
        item = note(f"{client.name}-{n}")
        with suppress(ApiError):
            await client.ask(slow("create", item))
        client.tell(slow("delete", item))


def slow(verb: str, item: Note) -> Operation:
    """An Operation of the Endpoint `slow`."""
    return Operation(verb, "notes", item.meta.name, "default", item, endpoint="slow")


class Slow(StoreEndpoint):
    """The Store's Endpoint under another name, each of whose verbs is two turns."""

    def __init__(self, store: Store) -> None:
        super().__init__(store, "slow")

    def handle(self, operation: Operation, caller: str, now_ms: int) -> Handler:
        yield BETWEEN
        return (yield from super().handle(operation, caller, now_ms))


NASTY = [clears_up, spawns_five, hands_on, gives_up, asks_the_slow_one]


@pytest.mark.parametrize("main", NASTY)
@pytest.mark.parametrize("restart_after_ms", RESTARTS.values(), ids=RESTARTS)
def test_an_actor_with_nasty_traits_stands_a_crash_at_every_turn(
    main: Doing, restart_after_ms: int | None
) -> None:
    """Beside another of the same kind; both drivers leave the same traces of all of it."""

    def nasty(world: World) -> None:
        world.add(note())
        world.serve(Slow)
        world.start(Puppet("alpha", tolerant(main)), Puppet("beta", tolerant(main)))
        world.limit(turns_max=500)

    def digests(driver: str) -> list[str]:
        found: list[str] = []

        def play(chooser: Struck) -> None:
            world = of(nasty).world()
            world.allow(Crash("alpha", restart_after_ms=restart_after_ms))
            world.run(chooser, driver=driver, trace=Trace({}, keep=True))
            look(world, "alpha")
            found.append(world.trace.digest())

        struck = [chooser.has_struck for chooser in at_every_turn("crash alpha", play)]
        assert sum(struck) >= 8
        return found

    trio, direct = (digests(driver) for driver in DRIVERS)
    assert trio == direct
    assert len(set(trio)) >= 8


def tolerant(main: Doing) -> Doing:
    """The same; that a note of its dead life is still there is not what it dies of."""

    async def run(client: Client) -> None:
        with suppress(ApiError):
            await main(client)

    return run


@pytest.mark.parametrize("driver", DRIVERS)
def test_an_endpoint_of_two_parts_may_crash_at_every_turn(driver: str) -> None:
    """Between its parts as well: what is half served stops there, and its caller is told."""
    halves = 0

    def build(world: World) -> None:
        world.serve(Slow)
        world.start(Puppet("alpha", asks_the_slow_one), Puppet("beta", asks_the_slow_one))

    def play(chooser: Struck) -> None:
        nonlocal halves
        world = of(build).world()
        world.allow(Crash("slow", restart_after_ms=5))
        assert world.run(chooser, driver=driver, trace=Trace({}, keep=True)).is_held
        look(world, "slow")
        served = [step.option.verb for step in world.trace.steps if step.kind == SERVE]
        halves += served.count("create") > served.count("create.2")

    struck = [chooser.has_struck for chooser in at_every_turn("crash slow", play)]
    assert sum(struck) >= 15
    assert halves >= 2


async def swallows(client: Client) -> None:
    """Catches whatever it is told, and goes on, for ever; in two tasks."""

    async def again() -> None:
        while True:
            with suppress(BaseException):
                await client.sleep(10)

    client.spawn("again", again)
    await client.get(Note, "n")
    await again()


@each_row(("driver", "restart_after_ms"), ALL)
def test_a_swallower_is_named_whenever_it_crashes(
    driver: str, restart_after_ms: int | None
) -> None:
    """As soon as one of its tasks has gone on after it was told, be it at the end of the Run; and
    it never keeps the World."""
    named: list[str] = []

    def play(chooser: Struck) -> None:
        world = World()
        world.add(note())
        world.start(Puppet("alpha", swallows), Puppet("beta", persists))
        world.allow(Crash("alpha", restart_after_ms=restart_after_ms))
        world.limit(virtual_ms_max=100)
        try:
            assert world.run(chooser, driver=driver).is_held
        except ScenarioError as error:
            named.append(str(error).partition(": ")[2].partition(" (step")[0])
        the_store_is_whole(world.store)
        assert not any(role.is_up for role in world.table.roles.values())

    held = len(list(at_every_turn("crash alpha", play))) + 1 - len(named)
    who = {f"alpha/{name} swallowed Crashed and went on" for name in ("again", "main")}
    assert set(named) == who
    # Before its first task swallows anything, a crash for good is the end of it.
    assert held == (2 if restart_after_ms is None else 0)
    assert len(named) > 20
