"""no_lasso: what is undone for ever is proved; what merely goes on for a while is not."""

from __future__ import annotations

import itertools
import re
from collections import deque
from collections.abc import Callable, Iterator
from threading import Lock
from typing import Any

import attrs
import pytest

from actors.apiserver import ApiServer
from actors.shared.recorder import Recorder
from testbed.chooser import Chooser, Plan, RunInfo
from testbed.choosers.calm import Calm
from testbed.choosers.complete import Complete
from testbed.choosers.uniform import Uniform
from testbed.client.actor import Actor
from testbed.client.cache import Cache
from testbed.client.client import Client
from testbed.errors import Conflict, ScenarioError
from testbed.faults.crash import Crash
from testbed.invariant import Evidence
from testbed.invariants.lasso.lap import AGAIN
from testbed.invariants.lasso.likeness import Likeness
from testbed.invariants.lasso.no_lasso import NoLasso, no_lasso
from testbed.objects.condition import Condition
from testbed.objects.lease import Lease
from testbed.objects.meta import Meta
from testbed.objects.note import Note
from testbed.store.endpoint import Handler, Operation
from testbed.store.store import Store
from testbed.store.store_endpoint import StoreEndpoint
from testbed.turns.option import FAULT, SERVE, Choice, HoldBack, LetPass, Release
from testbed.turns.pending import Alternatives, Options
from testbed.turns.trace import Trace
from testbed.turns.verdict import Verdict
from testbed.world.lap_proof import lasso_of, prove_lasso
from testbed.world.scenario import Scenario, find, of, play_runs
from testbed.world.world import World
from tests.each_row import each_row
from tests.shared.endpoints import Runtime
from tests.shared.stage import Doing, Puppet, note

TOGGLES = 40
"""More laps than any proof takes; then it stops."""


def world_that(*doings: Doing, claim: NoLasso | None = None, **limits: int) -> World:
    """A World with a Note and these actors; it does not know how to make another of its kind."""
    world = World("test")
    world.add(note(a="0", b="0"))
    for number, do in enumerate(doings):
        world.start(Puppet(f"p{number}", do))
    world.claim(no_lasso() if claim is None else claim)
    world.limit(**({"turns_max": 5_000} | limits))
    return world


def calm(world: World) -> Verdict:
    """Its calm run."""
    return world.run(Calm(), driver="direct")


def scenario_of(*doings: Doing) -> Scenario:
    """The same as a scenario, which can be assembled again."""

    def build(world: World) -> None:
        world.add(note(a="0", b="0"))
        for number, do in enumerate(doings):
            world.start(Puppet(f"p{number}", do))
        world.claim(no_lasso())
        world.limit(turns_max=5_000)

    return of(build)


async def toggle(client: Client, ms: int = 100) -> None:
    """Once there and back."""
    for value in ("1", "0"):
        await client.update(note(a=value, b="0"))
        await client.sleep(ms, "pace")


async def for_ever(client: Client) -> None:
    """An actor that undoes its own work, and never stops."""
    while True:
        await toggle(client)


# -- it fires -------------------------------------------------------------------------------------


@each_row("driver", ["trio", "direct"])
def test_the_calm_run_of_a_ping_pong_proves_it_at_once(driver: str) -> None:
    """In a few laps; who displaces whom, how much a lap writes and how long it takes."""
    verdict = find("tug_of_war").world().run(Calm(), driver=driver)
    assert str(verdict) == (
        "Violated: no_lasso: for ever, a lap of 2 writes in 30,000 ms, played 3 more times to the "
        "same state: autoscaler sets notes/default/web data.manager gitops → autoscaler, "
        "data.replicas 2 → 5 (set by gitops); gitops sets notes/default/web data.manager "
        "autoscaler → gitops, data.replicas 5 → 2 (set by autoscaler); and again. Everyone who "
        "could move did in each lap. Taken to mean nothing: revisions, uids (step 43, 60000 ms). "
        "Looked at: 1 run (calm), 43 turns, 60000 ms virtual time, 0 faults."
    )


def test_a_lap_may_take_no_time() -> None:
    """Long before the limit on the turns of one instant, and proved."""
    verdict = calm(find("tug_of_war").world({"sync_ms": "0"}))
    assert verdict.is_violated
    assert "writes in no time at all" in verdict.violations[0].said
    assert verdict.turns < 100


def test_random_choices_come_upon_the_ping_pong_too() -> None:
    """Each of eight: what they chose in a lap is played again in another World."""
    found = []

    def look(world: World) -> bool:
        assert world.verdict is not None
        found.append(world.verdict.is_violated and world.verdict.turns < 1_000)
        return True

    play_runs(find("tug_of_war"), Uniform(7), look, runs_max=8, driver="direct")
    assert found == [True] * 8


def test_a_world_that_cannot_be_made_again_proves_it_by_going_on() -> None:
    """Assembled by hand, it needs one lap and three more of its own."""
    verdict = calm(world_that(for_ever))
    assert verdict.is_violated
    apart = calm(scenario_of(for_ever).world())
    assert apart.is_violated
    assert apart.virtual_ms == 400
    assert verdict.virtual_ms == apart.virtual_ms + AGAIN * 200


def test_a_proof_takes_no_longer_than_its_laps() -> None:
    """The first lap, found at 400 ms, and three more of 200: the last millisecond is enough."""

    def within(virtual_ms_max: int) -> Verdict:
        def build(world: World) -> None:
            world.add(note(a="0", b="0"))
            world.start(Puppet("p", for_ever))
            world.claim(no_lasso())
            world.limit(virtual_ms_max=virtual_ms_max)

        return calm(of(build).world())

    assert within(1_000).is_violated
    assert within(1_000).virtual_ms == 400
    assert within(999).outcome == "undecided"


def test_a_race_may_lead_into_it() -> None:
    """Calm, nobody undoes anything: the loser of a race does, for ever."""

    async def one(client: Client) -> None:
        seen = await client.get(Note, "n")
        await client.get(Note, "n")
        if seen.data["b"] == "1":
            await for_ever(client)

    async def two(client: Client) -> None:
        await client.update(note(a="0", b="1"))

    recipe = scenario_of(one, two)
    assert calm(recipe.world()).is_held
    verdicts = [recipe.world().run(Uniform(seed), driver="direct") for seed in range(40)]
    assert {verdict.outcome for verdict in verdicts} == {"held", "violated"}
    assert all(verdict.turns < 200 for verdict in verdicts)


@attrs.frozen
class Timid(Actor):
    """Undoes its own work for ever, once it has found that it lived before."""

    async def run(self, client: Client) -> None:
        seen = await client.get(Note, "n")
        await client.update(seen.saying(b=f"{int(seen.data['b']) + 1}"))
        while seen.data["b"] == "1":
            for value in ("1", "0"):
                await client.update(note(a=value, b="2"))
                await client.sleep(100, "pace")


class CrashesAt(Chooser):
    """Calm, with one fault at a turn."""

    def __init__(self, turn: int) -> None:
        self.turn = turn

    def begin(self, run: RunInfo) -> Plan | None:
        return Plan("a crash")

    def choose(self, options: Options | Alternatives) -> int:
        self.turn -= 1
        return options.ready if self.turn == 0 and options.faults else 0


def test_a_crash_may_lead_into_it() -> None:
    """The lap is what comes after the crash, and has none in it."""

    def build(world: World) -> None:
        world.add(note(a="0", b="0"))
        world.start(Timid("t"))
        world.allow(Crash("t", times_max=1, restart_after_ms=50))
        world.claim(no_lasso())
        world.limit(turns_max=2_000)

    assert calm(of(build).world()).is_held
    verdict = of(build).world().run(CrashesAt(5), driver="direct")
    assert verdict.faults == 1
    assert verdict.is_violated, verdict


def test_a_lap_with_a_fault_in_it_is_none() -> None:
    """However often it may strike, its budget is spent in the end."""

    async def once(client: Client) -> None:
        seen = await client.get(Note, "n")
        value = "0" if seen.data["a"] == "1" else "1"
        await client.update(note(a=value, b="0"))
        await client.sleep(100, "rest")

    class CrashesWhenQuiet(CrashesAt):
        def choose(self, options: Options | Alternatives) -> int:
            return options.ready if options[0].kind == "wake" and options.faults else 0

    def build(world: World) -> None:
        world.add(note(a="0", b="0"))
        world.start(Puppet("p", once))
        world.allow(Crash("p", times_max=30, restart_after_ms=0))
        world.claim(no_lasso())

    verdict = of(build).world().run(CrashesWhenQuiet(0), driver="direct")
    assert verdict.faults == 30
    assert verdict.is_held, verdict


def test_a_lap_may_span_two_periods() -> None:
    """One actor every 200 ms, one every 300: what comes back comes back after 600."""

    def every(ms: int, field: str) -> Doing:
        async def run(client: Client) -> None:
            while True:
                for value in ("1", "0"):
                    seen = await client.get(Note, "n")
                    await client.update(seen.saying(**{field: value}))
                    await client.sleep(ms, field)

        return run

    verdict = calm(scenario_of(every(100, "a"), every(150, "b")).world())
    assert verdict.is_violated
    assert "a lap of 10 writes in 600 ms" in verdict.violations[0].said
    assert "… 4 more" in verdict.violations[0].said


def test_what_is_made_anew_has_a_new_uid_in_each_lap() -> None:
    """Create, delete, create: uids, revisions and ages differ, and mean nothing."""

    async def run(client: Client) -> None:
        while True:
            made = await client.create(note("m"))
            await client.sleep(1_700, "pace")
            await client.delete(made)

    verdict = calm(scenario_of(run).world())
    assert verdict.is_violated
    assert "p0 creates notes/default/m; p0 deletes notes/default/m" in verdict.violations[0].said


def test_a_new_name_in_each_lap_may_be_declared_to_mean_nothing() -> None:
    """Else the lap is only suspected, and the verdict says why."""

    async def run(client: Client) -> None:
        while True:
            names = [item.meta.name for item in (await client.list(Note)).items]
            for name in names:
                await client.delete(await client.get(Note, name))
            name = f"m{int(names[-1][1:]) + 1}"
            await client.create(note(name))
            await client.sleep(100, "pace")

    def world(claim: NoLasso) -> World:
        world = World("test")
        world.add(note("m1"))
        world.start(Puppet("p", run))
        world.claim(claim)
        world.limit(turns_max=1_000)
        return world

    plain = calm(world(no_lasso()))
    assert plain.outcome == "undecided"
    assert "suspected: a ping-pong, not proved: each time round, this differs" in plain.end
    declared = calm(world(no_lasso(named_anew=("notes",))))
    assert declared.is_violated, declared
    assert declared.violations[0].said.endswith("revisions, uids, the names of notes")
    assert "deletes one of notes" in declared.violations[0].said


def test_the_state_may_be_told_coarsely() -> None:
    """A counter that only counts the laps keeps every state new; the claim may look away, and
    the whole Moment is still compared, so it is suspected and not proved."""

    async def run(client: Client) -> None:
        while True:
            seen = await client.get(Note, "n")
            value = "0" if seen.data["a"] == "1" else "1"
            await client.update(seen.saying(a=value, b=f"{int(seen.data['b']) + 1}"))
            await client.sleep(100, "pace")

    def only_a(see: Evidence) -> object:
        return [e.value.data["a"] for e in see.store.snapshot("notes/")]  # type: ignore[attr-defined]

    fine = calm(world_that(run, turns_max=500))
    assert fine.end.startswith("turns_max: 500 turns were played; p0 would go on. To judge it up")
    coarse = calm(world_that(run, claim=no_lasso(abstraction=only_a), turns_max=500))
    assert coarse.outcome == "undecided"
    assert "suspected: a ping-pong" in coarse.end


def test_a_doubt_says_what_differs() -> None:
    """The first value that does, and the variable that has it; or what the Store has more of."""

    async def counts(client: Client) -> None:
        laps = ["none"]
        while True:
            laps[0] = f"lap {client.now() // 200}"
            await toggle(client)

    async def piles_up(client: Client) -> None:
        while True:
            await client.create(note(f"m{client.now()}"))
            await client.sleep(100, "pace")

    last = calm(world_that(counts, turns_max=300))
    assert re.search(r"p0/main, `laps` in .*counts: 'lap \d+' → 'lap \d+'\.", last.end)
    claim = no_lasso(abstraction=lambda _: "the same")
    grown = calm(world_that(piles_up, claim=claim, turns_max=300))
    assert "this differs: the objects of the Store: new notes/default/m" in grown.end


# -- it does not ----------------------------------------------------------------------------------


async def by_range(client: Client) -> None:
    """The counter is a local."""
    for _ in range(TOGGLES):
        await toggle(client)


async def by_equal_items(client: Client) -> None:
    """The loop variable never changes: how far it is only the iterator knows."""
    for _ in [None] * TOGGLES:
        await toggle(client)


async def by_enumerated_tuple(client: Client) -> None:
    """The same behind two iterators."""
    for _ in zip((None,) * TOGGLES, itertools.cycle("x"), strict=False):
        await toggle(client)


async def by_generator(client: Client) -> None:
    """The counter is a local of a generator."""

    def times() -> Iterator[None]:
        left = TOGGLES
        while left:
            left -= 1
            yield None

    for _ in times():
        await toggle(client)


async def by_closure(client: Client) -> None:
    """The counter is in a cell that only an inner function names."""
    left = TOGGLES

    def goes_on() -> bool:
        nonlocal left
        left -= 1
        return left > 0

    go = goes_on
    while go():
        await toggle(client)


class Counter:
    """A counter in an attribute, and one in a slot."""

    __slots__ = ("left", "other")

    def __init__(self) -> None:
        self.left = TOGGLES


async def by_attribute(client: Client) -> None:
    """The counter is in an object, and that in a list."""
    held = [Counter()]
    while held[0].left:
        held[0].left -= 1
        await toggle(client)


async def by_deque(client: Client) -> None:
    """What is left to do is in a deque of equal things."""
    work = deque([None] * TOGGLES)
    while work:
        work.popleft()
        await toggle(client)


async def by_queue(client: Client) -> None:
    """What is left to do is in a queue of the World's own."""
    work = client.queue()
    for _ in range(TOGGLES):
        work.put(None)
    while len(work):
        await work.get()
        await toggle(client)


async def by_recursion(client: Client) -> None:
    """What is left to do is how deep the stack is."""

    async def deeper(left: list[None]) -> None:
        if left:
            await deeper(left[1:])
            await toggle(client)

    await deeper([None] * TOGGLES)


async def by_other_task(client: Client) -> None:
    """The counter is a local of another task, which lets this one go on."""
    turns = client.queue()

    async def count() -> None:
        for _ in [None] * TOGGLES:
            turns.put(None)
            await client.sleep(200, "count")
        turns.put("stop")

    client.spawn("count", count)
    while await turns.get() != "stop":
        await toggle(client, 50)


async def by_clock(client: Client) -> None:
    """It stops at a time, and holds nothing at all."""
    while client.now() < TOGGLES * 200:
        await toggle(client)


async def by_exception(client: Client) -> None:
    """What is left to do is in the exception being handled."""
    try:
        raise ValueError([None] * TOGGLES)
    except ValueError as error:
        held = error
        del error
        while held.args[0]:
            held.args[0].pop()
            await toggle(client)


async def by_what_it_caught(client: Client) -> None:
    """It writes on in an `except`, a level deeper each time, with no name for what it caught."""

    async def again(left: int) -> None:
        try:
            raise ValueError(left)
        except ValueError:
            await toggle(client)
            await again(left - 1) if left else None

    await again(TOGGLES)


HIDDEN = [
    by_range, by_equal_items, by_enumerated_tuple, by_generator, by_closure, by_attribute, by_deque,
    by_queue, by_recursion, by_other_task, by_clock, by_exception, by_what_it_caught,
]  # fmt: skip


@each_row("do", HIDDEN, ids=lambda do: do.__name__)
def test_what_stops_in_the_end_is_never_proved(do: Doing) -> None:
    """Forty laps of equal writes, and then none: wherever the actor keeps how far it is."""
    for world in (world_that(do), scenario_of(do).world()):
        verdict = calm(world)
        assert verdict.is_held, verdict
        assert verdict.virtual_ms >= TOGGLES * 100


def test_what_cannot_be_compared_is_never_proved() -> None:
    """A lock shows nothing of its state; the verdict names it, and whose it is."""

    async def run(client: Client) -> None:
        lock = Lock()
        while not lock.locked():
            await toggle(client)

    verdict = calm(world_that(run, turns_max=300))
    assert verdict.end.startswith(
        "turns_max: 300 turns were played; p0 would go on; suspected: a ping-pong, not proved: "
        "what is in p0/main, `lock` in test_what_cannot_be_compared_is_never_proved.<locals>.run: "
        "_thread.lock shows no state to compare"
    )


def test_a_suspicion_says_what_differs() -> None:
    """Down to the local variable."""

    async def run(client: Client) -> None:
        laps = 0
        while True:
            laps += 1
            await toggle(client)

    verdict = calm(world_that(run, turns_max=300))
    assert verdict.outcome == "undecided"
    assert "this differs: p0/main, `laps` in test_a_suspicion" in verdict.end


def test_a_suspicion_says_whose_clock_it_is() -> None:
    """An actor that looks at its clock may yet do otherwise when it shows something else."""

    async def run(client: Client) -> None:
        while client.now() >= 0:
            await toggle(client)

    verdict = calm(world_that(run, turns_max=300))
    assert "p0 looks at a clock" in verdict.end


@attrs.frozen
class Remaining:
    """Says how long is left until something is due; or, if it is not careful, when that is."""

    due: list[int]
    is_careful: bool

    def digest(self, now_ms: int) -> object:
        return [due_ms - now_ms * self.is_careful for due_ms in self.due]


@each_row(("is_careful", "outcome"), [(True, "violated"), (False, "undecided")])
def test_a_life_may_look_at_its_clock_if_it_shows_how_far_off_things_are(
    is_careful: bool, outcome: str
) -> None:
    """Equally far from all that it goes by, it will do alike, whatever the clock shows."""

    async def run(client: Client) -> None:
        due: list[int] = []
        client.show("remaining", Remaining(due, is_careful))
        while True:
            due[:] = [client.now() + 500]
            await toggle(client, 100)

    assert calm(world_that(run, turns_max=300)).outcome == outcome


def test_times_are_compared_by_how_far_off_they_are() -> None:
    """What is due equally long from now is alike, and so is what was at another time before."""

    def told(now_ms: int, meta: Meta, since_ms: int) -> dict[str, str]:
        likeness = Likeness({}, None, now_ms)
        likeness.begin("")
        likeness.write((meta, Condition("Ready", "True", since_ms=since_ms)))
        return likeness.digests()

    early = told(1_000, Meta("p", deleted_ms=6_000), 400)
    assert told(9_000, Meta("p", deleted_ms=14_000), 8_999) == early
    assert told(9_000, Meta("p", deleted_ms=14_001), 8_999) != early
    assert told(9_000, Meta("p", deleted_ms=14_000), 9_001) != early


@pytest.mark.spec("API-49")
@each_row(("toggles", "outcome"), [(True, "violated"), (False, "held")])
def test_events_are_no_part_of_a_state_and_no_ping_pong(toggles: bool, outcome: str) -> None:
    """Nobody may decide by them: more of them with each lap hide none, and are none alone."""

    async def run(client: Client) -> None:
        recorder = Recorder(client, "talker")
        client.show("nothing", Remaining([], True))
        while True:
            recorder.note(note(), "Toggled", "again")
            if toggles:
                await toggle(client)
            else:
                await client.sleep(10)

    world = World("test")
    world.serve(ApiServer)
    world.add(note(a="0", b="0"))
    world.start(Puppet("p", run))
    world.claim(no_lasso())
    world.limit(turns_max=300)
    assert calm(world).outcome == outcome


def test_what_is_asked_nearby_may_tell_the_time() -> None:
    """A near Endpoint is told it with each request: its answer may be another one next time."""

    async def run(client: Client) -> None:
        look = Operation("get", "notes", "n", "default", endpoint="runtime")
        while True:
            await client.ask(look)
            await toggle(client)

    world = world_that(run, turns_max=300)
    world.serve(lambda store: Runtime(store, "runtime"))
    assert "p0 looks at a clock" in calm(world).end


class Counts(StoreEndpoint):
    """Stands before the Store, and counts what it is asked."""

    is_front = True
    asked = 0

    def handle(self, operation: Operation, caller: str, now_ms: int) -> Handler:
        self.asked += 1
        return super().handle(operation, caller, now_ms)


@each_row(("serves", "outcome"), [(StoreEndpoint, "violated"), (Counts, "undecided")])
def test_what_an_endpoint_remembers_is_part_of_it(
    serves: type[StoreEndpoint], outcome: str
) -> None:
    """One that keeps more than how far it has read may do otherwise the next time."""
    world = world_that(for_ever, turns_max=300)
    world.serve(lambda store: serves(store, "front"))
    assert calm(world).outcome == outcome


@each_row("lags", [(), ("notes",)])
def test_laps_are_proved_before_an_api_server(lags: tuple[str, ...]) -> None:
    """What it remembers is the same again."""
    world = world_that(for_ever)
    world.serve(lambda store: ApiServer(store, lags=lags))
    assert calm(world).is_violated


def test_names_that_were_given_are_part_of_an_api_server() -> None:
    """It will not give them again."""
    server = ApiServer(Store())
    before = repr(server.digest())
    server.give_name(Meta("", "default", generate_name="n-"), "alpha")
    assert repr(server.digest()) != before


@attrs.frozen
class Digested(Puppet):
    """Tells what its memory comes to."""

    says: Callable[[], Any]

    def digest(self) -> object:
        return self.says()


@each_row("grows", [False, True])
def test_an_actor_may_tell_what_its_memory_comes_to(grows: bool) -> None:
    """`digest` takes the place of its locals, which differ here in what means nothing."""
    laps: list[None] = []

    async def run(client: Client) -> None:
        while True:
            laps.append(None)
            await toggle(client)

    world = World("test")
    world.add(note(a="0", b="0"))
    world.start(Digested("p", run, (lambda: len(laps)) if grows else (lambda: 0)))
    world.claim(no_lasso())
    world.limit(turns_max=500)
    assert calm(world).outcome == ("undecided" if grows else "violated")


def test_nobody_may_be_left_waiting() -> None:
    """A lap in which a third actor never gets its turn proves nothing: it may be the one that
    ends it. Here it does, as soon as it is let."""

    async def third(client: Client) -> None:
        seen = await client.get(Note, "n")
        await client.update(seen.saying(b="stop"))

    async def two(client: Client) -> None:
        while (await client.get(Note, "n")).data["b"] != "stop":
            for value in ("1", "0"):
                seen = await client.get(Note, "n")
                await client.update(seen.saying(a=value), whatever_it_was=True)

    class Starves(Chooser):
        def begin(self, run: RunInfo) -> Plan | None:
            return Plan("never p1")

        def choose(self, options: Options | Alternatives) -> Choice:
            ready = range(options.ready)
            return next((n for n in ready if options[n].actor != "p1"), 0)

    recipe = scenario_of(two, third)
    verdict = recipe.world().run(Starves(), driver="direct")
    assert verdict.outcome == "undecided"
    assert "the lap never lets start p1/main have its turn" in verdict.end
    fair = recipe.world().run(Uniform(1), driver="direct")
    assert fair.is_held, fair


@pytest.mark.parametrize("runs", [150, pytest.param(10_000, marks=pytest.mark.long)])
def test_a_field_manager_ends_it(runs: int) -> None:
    """The guarded half of the pair, under random choices: held, each of them."""
    outcomes: dict[str, int] = {}

    def look(world: World) -> bool:
        assert world.verdict is not None
        outcomes[world.verdict.outcome] = outcomes.get(world.verdict.outcome, 0) + 1
        return True

    given = {"guard": "on"}
    play_runs(find("tug_of_war"), Uniform(3), look, runs_max=runs, switches=given, driver="direct")
    assert outcomes == {"held": runs}


# -- how it does it -------------------------------------------------------------------------------


def test_a_proof_is_a_function_of_the_choices() -> None:
    """`prove_lasso` plays it in a World of its own, twice the same; and a lap that is none is
    none."""
    world = find("tug_of_war").world()
    trace = Trace({}, keep=True)
    world.run(Calm(), driver="direct", trace=trace)
    make = find("tug_of_war").world
    updates = [step.number for step in trace.steps if step.option.verb == "update"]
    lap = trace.choices[[n for n in updates if trace.steps[n - 1].kind == SERVE][-3] :]
    proofs = [prove_lasso(make, trace.choices, lap) for _ in range(2)]
    found = [proof and lasso_of(proof) for proof in proofs]
    texts = [each and each.text for each in found]
    assert texts[0] == texts[1] == world.verdict.violations[0].said  # type: ignore[union-attr]
    guarded = prove_lasso(lambda: make({"guard": "on"}), trace.choices[:20], [0] * 4)
    assert guarded is None


class AtRest(Calm):
    """Lets the first fault strike once all is at rest."""

    def strike(self, options: Options) -> int | None:
        return options.ready if options.faults else None


def toggling_after_a_crash(world: World) -> None:
    """Its first life does nothing; each further one toggles a Note for ever."""
    lives: list[None] = []

    async def toggle(client: Client) -> None:
        lives.append(None)
        if len(lives) == 1:
            await client.queue(idle=True).get()
        while True:
            for a in ("0", "1"):
                found = await client.get(Note, "n")
                await client.update(found.saying(a=a), whatever_it_was=True)
                await client.sleep(10)

    world.add(note(a="0"))
    world.start(Puppet("p", toggle))
    world.allow(Crash("p", restart_after_ms=10))
    world.claim(no_lasso())
    world.limit(turns_max=200)


def test_a_lap_after_a_fault_at_rest_is_proved() -> None:
    """What leads to the lap is played again with the faults that struck at rest."""
    make, trace = of(toggling_after_a_crash).world, Trace({}, keep=True)
    world = make()
    world.evidence.play_lap = None
    world.run(AtRest(), driver="direct", trace=trace)
    (fault,) = [step.number for step in trace.steps if step.kind == FAULT]
    updates = [s.number for s in trace.steps if s.kind == SERVE and s.option.verb == "update"]
    assert fault < updates[2]
    before = trace.choices[: updates[4]]
    proof = prove_lasso(make, before, before[updates[2] :])
    assert proof is not None
    assert proof.trace.choices[:fault] == trace.choices[:fault]


@each_row(
    "choice", [99, HoldBack(99), Release(0), LetPass(1)], ids=lambda choice: type(choice).__name__
)
def test_what_cannot_be_chosen_again_is_no_lap(choice: Choice) -> None:
    """Nothing so far down the line is there, nothing is held, and the past is over."""
    make = find("tug_of_war").world
    assert prove_lasso(make, [0] * 8, [0, choice]) is None


def test_it_is_the_same_whether_the_trace_is_kept() -> None:
    """Who wrote what is known in any Run."""
    kept = find("tug_of_war").world().run(Calm(), driver="direct", trace=Trace({}, keep=True))
    assert kept == find("tug_of_war").world().run(Calm(), driver="direct")


def test_a_world_that_was_added_to_is_not_played_apart() -> None:
    """Its scenario makes another one than this: what holds there need not hold here."""
    adding: tuple[Callable[[World], None], ...] = (
        lambda world: world.allow(Crash()),
        lambda world: world.add(note()),
        lambda world: world.start(Puppet("p", for_ever)),
        lambda world: world.serve(StoreEndpoint),
    )
    for adds in adding:
        world = find("tug_of_war").world()
        assert world.evidence.play_lap is not None
        adds(world)
        assert world.evidence.play_lap is None


def test_a_bookmark_does_not_hide_a_lap() -> None:
    """A Cache that hears of nothing is sent a bookmark every minute, at another place of each lap:
    it tells its actor nothing."""

    async def idle(client: Client) -> None:
        from testbed.objects.pod import Pod

        Cache(client, Pod)
        await client.queue("inbox", idle=True).get()

    async def busy(client: Client) -> None:
        while True:
            await toggle(client, 7_000)

    async def pods(client: Client) -> None:
        from testbed.objects.pod import Pod
        from testbed.store.selector import Selector

        Cache(client, Note, Selector(name="other"))
        Cache(client, Pod)
        await client.queue("inbox", idle=True).get()

    verdict = calm(scenario_of(busy, idle, pods).world())
    assert verdict.is_violated, verdict
    assert verdict.virtual_ms < 60_000


def test_it_stops_looking_closely_some_day(monkeypatch: pytest.MonkeyPatch) -> None:
    """A Run that comes back to the same coarse state for ever, and is never the same, costs no more
    than so many looks."""

    async def run(client: Client) -> None:
        laps = 0
        while True:
            laps += 1
            await client.update(note(a="1", b="0"))
            await client.update(note(a="0", b="0"))

    monkeypatch.setattr("testbed.invariants.lasso.no_lasso.LOOKS_MAX", 100)
    verdict = calm(world_that(run, turns_max=2_000, instant_turns_max=2_000))
    assert "looked 100 times" in verdict.end


def test_a_conflict_is_no_write() -> None:
    """What is refused changes nothing, so a retry for ever is no ping-pong."""

    async def run(client: Client) -> None:
        seen = await client.get(Note, "n")
        await client.update(seen.saying(a="1"))
        while True:
            try:
                await client.update(seen.saying(a="2"))
            except Conflict:
                await client.sleep(10, "retry")

    verdict = calm(world_that(run, turns_max=300))
    assert (verdict.end, verdict.note) == (
        "quiet", "Idle from 0 ms on: p0 looks every 10 ms, and nothing changes.",
    )  # fmt: skip


# -- what it reads --------------------------------------------------------------------------------


def beside(claim: Callable[[], NoLasso] | None) -> Scenario:
    """One note that is written twice, and two actors that create leases."""

    async def flip(client: Client) -> None:
        for said in "01":
            await client.update(note(a=said), whatever_it_was=True)

    async def beat(client: Client) -> None:
        for name in "xy":
            await client.create(Lease(f"{client.name}-{name}"))

    def build(world: World) -> None:
        world.add(note(a="0"))
        world.start(Puppet("flip", flip), Puppet("one", beat), Puppet("two", beat))
        if claim is not None:
            world.claim(claim())

    return of(build)


@each_row(
    ("claim", "classes"),
    [(None, 1), (lambda: no_lasso(reads=("log:notes",)), 1), (no_lasso, 500)],
    ids=["no claim", "it declares the notes", "it reads all"],
)
def test_a_complete_search_keeps_only_the_order_of_what_it_reads(
    claim: Callable[[], NoLasso] | None, classes: int
) -> None:
    """One class as long as it looks at notes alone; if it may look at all, there are thousands."""
    complete = Complete()
    play_runs(beside(claim), complete, lambda _: True, runs_max=500, driver="direct")
    assert sum(complete.outcomes.values()) == classes
    assert complete.is_complete is (classes == 1)


def test_it_proves_the_same_if_it_declares_what_is_written() -> None:
    """And what it does not read makes no lap."""

    def declared(*reads: str) -> Scenario:
        def build(world: World) -> None:
            world.add(note(a="0", b="0"), Lease("other"))
            world.start(Puppet("p0", for_ever))
            world.claim(no_lasso(reads=reads))
            world.limit(turns_max=300, instant_turns_max=300)

        return of(build)

    whole = calm(scenario_of(for_ever).world())
    for reads in (("log:notes",), ("log:notes.data",), ("notes/default/n",), ("log:",)):
        assert calm(declared(*reads).world()).violations == whole.violations
    for reads in (("log:leases",), ("leases/default/n",)):
        verdict = calm(declared(*reads).world())
        assert not verdict.violations
        assert verdict.outcome == "undecided"


def test_an_audit_catches_what_it_has_not_declared() -> None:
    """What the user's own abstraction looks at, in any Run."""

    def world(*reads: str, audit: bool) -> World:
        def build(world: World) -> None:
            world.add(note(a="0"), Lease("other"))
            world.start(Puppet("p0", for_ever))
            world.claim(no_lasso(abstraction=leases, reads=reads or None))
            world.limit(turns_max=300, instant_turns_max=300)

        return of(build).world(audit=audit)

    def leases(see: Evidence) -> object:
        return [entry.key for entry in see.store.snapshot("leases/")]

    with pytest.raises(ScenarioError, match="no_lasso reads leases/ in the Store, and declared"):
        calm(world("log:notes", audit=True))
    calm(world("log:notes", audit=False))
    calm(world("log:notes", "log:leases", audit=True))
    calm(world(audit=True))


def test_to_look_at_nothing_is_refused() -> None:
    """It could prove nothing, and would say that all is well."""
    for reads in ((), ("records",)):
        with pytest.raises(ScenarioError, match="expected at least one kind or key"):
            no_lasso(reads=reads)
