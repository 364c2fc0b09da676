"""One incarnation of an actor: what a crash ends, what outlives it, and what the next one finds."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from contextlib import suppress
from typing import Any

import attrs
import pytest

from testbed.choosers.calm import Calm
from testbed.choosers.struck import Struck
from testbed.choosers.uniform import Uniform
from testbed.client.actor import Actor
from testbed.client.cache import Cache
from testbed.client.client import Client
from testbed.errors import Crashed, ScenarioError
from testbed.faults.crash import Crash
from testbed.objects import Note
from testbed.store.endpoint import Operation
from testbed.turns.life import Life, Role
from testbed.turns.trace import Trace
from testbed.world.world import World
from tests.each_row import each_row
from tests.shared.stage import Doing, note, world_of
from tests.shared.strike import at_every_turn

DRIVERS = ("trio", "direct")
both_drivers = each_row("driver", DRIVERS)


def crash(world: World, turn: int, driver: str, restart_after_ms: int | None = None) -> World:
    """Play it calmly, but for a crash of alpha at that turn."""
    world.allow(Crash("alpha", restart_after_ms=restart_after_ms))
    trace = Trace({}, keep=True)
    verdict = world.run(Struck(turn, "crash alpha"), driver=driver, trace=trace)
    assert verdict.faults == 1
    return world


def sentences(world: World, path: str = "") -> list[str]:
    """What happened on that path, and on those that begin so."""
    steps = world.trace.steps
    return [str(step.sentence) for step in steps if step.sentence.path.startswith(path)]


async def ticks(client: Client) -> None:
    """Lets time pass."""
    for _ in range(10):
        await client.sleep(1)


# -- names --------------------------------------------------------------------------------------


def test_the_second_task_of_a_name_is_number_two() -> None:
    """A path is actor and name, never a child's index; each life counts from one again."""
    role = Role("alpha", lambda: None, 0, True)
    for number in (1, 2):
        life = Life(role)
        names = ("main", "bind", "bind", "main", "bind")
        assert [life.path_for(name) for name in names] == [
            "alpha/main", "alpha/bind", "alpha/bind#2", "alpha/main#2", "alpha/bind#3",
        ]  # fmt: skip
        assert [life.nth("serve", "alpha/main", "get", key) for key in "aba"] == [1, 1, 2]
        assert (life.number, role.lives, role.is_up) == (number, number, True)
        assert role.life is life


@both_drivers
def test_sentences_count_from_one_again_in_the_next_life(driver: str) -> None:
    """`#n` counts since the actor's last start; the start itself is the second one."""

    async def main(client: Client) -> None:
        await client.get(Note, "n")
        await client.get(Note, "n")

    world = world_of(alpha=main, beta=ticks)
    world.add(note())
    crash(world, 5, driver, restart_after_ms=1)
    assert sentences(world, "alpha") == [
        "start alpha/main",
        "serve alpha/main get notes/default/n",
        "answer alpha/main get notes/default/n",
        "serve alpha/main get notes/default/n#2",
        "start alpha/main#2",
        "serve alpha/main get notes/default/n",
        "answer alpha/main get notes/default/n",
        "serve alpha/main get notes/default/n#2",
        "answer alpha/main get notes/default/n#2",
    ]


# -- what a crash ends --------------------------------------------------------------------------


@both_drivers
def test_a_crash_ends_what_the_life_could_still_do(driver: str) -> None:
    """Timers, starts, offers, answers and deliveries: none of them happens after it."""

    async def main(client: Client) -> None:
        Cache(client, Note)
        inbox, ready = client.queue(idle=True), client.signal()

        async def late() -> None:
            await client.sleep(1)

        client.spawn("takes", lambda: waits(inbox.get))
        client.spawn("waits", lambda: waits(ready.wait))
        client.spawn("reads", lambda: waits(lambda: client.get(Note, "n")))
        await client.sleep(5)
        inbox.put("item")
        ready.set()
        client.spawn("late", late)
        await client.sleep(50)

    async def waits(wait: Callable[[], object]) -> None:
        await wait()  # type: ignore[misc]

    for turn in range(2, 25):
        world = world_of(alpha=main, beta=ticks)
        world.add(note())
        world.allow(Crash("alpha"))
        trace = Trace({}, keep=True)
        chooser = Struck(turn, "crash alpha")
        assert world.run(chooser, driver=driver, trace=trace).is_held
        if chooser.has_struck:
            at = next(step.number for step in trace.steps if step.kind == "fault")
            after = [s for s in trace.steps if s.number > at and s.option.actor == "alpha"]
            assert {step.kind for step in after} <= {"serve"}
            assert not world.wire.streams.open


@both_drivers
def test_a_task_that_has_not_started_never_runs(driver: str) -> None:
    """Its start goes with the life: not a line of it is run, not even to make its coroutine."""
    said: list[str] = []

    async def main(client: Client) -> None:
        async def other() -> None:
            said.append("other")

        def made() -> Coroutine[Any, Any, None]:
            said.append("made")
            return other()

        client.spawn("other", made)
        said.append("main")
        await client.sleep(1)

    crash(world_of(alpha=main), 2, driver)
    assert said == ["main"]


@both_drivers
def test_a_request_outlives_the_life_that_sent_it(driver: str) -> None:
    """What is on the wire takes effect after the crash; no task gets the answer."""

    async def main(client: Client) -> None:
        client.tell(Operation("create", "notes", "told", "default", note("told")))
        await client.create(note("new"))

    world = crash(world_of(alpha=main), 2, driver)
    assert sentences(world) == [
        "start alpha/main",
        "fault fault/crash crash alpha",
        "serve alpha/main create notes/default/told",
        "serve alpha/main create notes/default/new",
    ]
    assert world.store.peek("notes/default/new") is not None


@both_drivers
def test_a_reply_to_a_dead_life_never_reaches_the_next_one(driver: str) -> None:
    """Each life asks for a note of its own; whenever it crashes and is restarted, it is answered
    with just that."""
    asked: list[tuple[int, str]] = []

    for seed in range(150):
        lives: list[int] = []

        async def main(client: Client, lives: list[int] = lives) -> None:
            lives.append(1)
            number = len(lives)
            for _ in range(3):
                found = await client.get(Note, f"n{number}")
                asked.append((number, found.meta.name))

        world = world_of(alpha=main)
        world.add(*(note(f"n{number}") for number in range(1, 6)))
        world.allow(Crash("alpha", times_max=3, restart_after_ms=0))
        verdict = world.run(Uniform(seed), driver=driver)
        assert verdict.is_held
        assert len(lives) == 1 + verdict.faults
    assert {number for number, _ in asked} >= {1, 2, 3}
    assert all(name == f"n{number}" for number, name in asked)


@both_drivers
def test_crashed_is_raised_task_by_task_in_order_of_paths(driver: str) -> None:
    """Five tasks, spawned in another order; each has ended before Crashed is raised in the next."""
    said: list[str] = []

    async def main(client: Client) -> None:
        async def other(name: str) -> None:
            try:
                await client.sleep(50)
            except Crashed:
                said.append(f"{name} crashed")
                raise
            finally:
                said.append(f"{name} ended")

        for name in ("d", "b", "e", "a", "c"):
            client.spawn(name, other, name)
        await other("main")

    crash(world_of(alpha=main), 7, driver)
    order = ("a", "b", "c", "d", "e", "main")
    assert said == [f"{name} {what}" for name in order for what in ("crashed", "ended")]


@both_drivers
def test_no_finally_can_await_or_write(driver: str) -> None:
    """Whatever it awaits is Crashed again; what it calls is refused; the Store is as it was."""
    said: list[str] = []

    async def main(client: Client) -> None:
        async def other() -> None:
            """Never starts."""

        try:
            await client.sleep(50)
        finally:
            seen = note("n", by="alpha")
            for what, attempt in (
                ("update", lambda: client.update(seen, whatever_it_was=True)),
                ("sleep", lambda: client.sleep(1)),
                ("queue", lambda: client.queue().get()),
            ):
                try:
                    await attempt()
                except Crashed:
                    said.append(what)
            for what, call in (
                ("record", lambda: client.record("x")),
                ("spawn", lambda: client.spawn("x", other)),
                ("now", client.now),
                ("tell", lambda: client.tell(Operation("update", "notes", "n", "default", seen))),
                ("pick", lambda: client.pick("x", [1, 2])),
                ("cache", lambda: Cache(client, Note)),
            ):
                try:
                    call()
                except Crashed:
                    said.append(what)
            said.append("done")

    world = world_of(alpha=main, beta=ticks)
    world.add(note())
    before = world.store.revision
    crash(world, 3, driver)
    assert said == [
        "update", "sleep", "queue", "record", "spawn", "now", "tell", "pick", "cache", "done",
    ]  # fmt: skip
    assert world.store.revision == before
    assert not world.evidence.records
    assert sentences(world, "alpha") == ["start alpha/main"]


@both_drivers
def test_a_finally_that_sets_a_signal_wakes_nobody(driver: str) -> None:
    """What tasks of one life share, they share until the end; but none of them goes on by it."""
    said: list[str] = []

    async def main(client: Client) -> None:
        inbox, ready = client.queue("inbox"), client.signal("ready")

        async def other(name: str) -> None:
            try:
                await client.first(inbox.get(), ready.wait())
                said.append(f"{name} went on")
            finally:
                inbox.put(name)
                ready.set()

        for name in "abc":
            client.spawn(name, other, name)
        await client.sleep(50)

    world = crash(world_of(alpha=main, beta=ticks), 7, driver)
    assert world.verdict is not None
    assert world.verdict.is_held
    assert not said


@both_drivers
def test_the_end_of_a_dying_task_wakes_nobody(driver: str) -> None:
    """The task that waited for it is dying as well, although Crashed is raised in it later."""
    said: list[str] = []

    async def main(client: Client) -> None:
        async def other() -> None:
            await client.sleep(50)

        await client.join(client.spawn("a", other))
        said.append("went on")

    world = crash(world_of(alpha=main, beta=ticks), 4, driver)
    assert world.verdict is not None
    assert world.verdict.is_held
    assert not said


@both_drivers
def test_a_finally_that_handles_an_error_of_its_own_swallows_nothing(driver: str) -> None:
    """It is still unwinding, even if it handles other errors meanwhile."""
    said: list[str] = []

    async def main(client: Client) -> None:
        try:
            await client.sleep(50)
        finally:
            try:
                raise ValueError("cannot clear up")
            except ValueError:
                said.append("tries")
                await client.sleep(1)

    world = crash(world_of(alpha=main, beta=ticks), 3, driver)
    assert world.verdict is not None
    assert world.verdict.is_held
    assert said == ["tries"]


@both_drivers
def test_an_exception_on_the_way_out_is_no_death(driver: str) -> None:
    """What a `finally` raises because its life is over is no mistake of the actor's."""

    async def main(client: Client) -> None:
        try:
            await client.sleep(50)
        finally:
            raise ValueError("too late")

    world = crash(world_of(alpha=main, beta=ticks), 3, driver)
    assert world.verdict is not None
    assert world.verdict.is_held
    assert not world.table.deaths


# -- who swallows it ----------------------------------------------------------------------------


async def goes_on(client: Client) -> None:
    """Swallows Crashed once, and awaits again."""
    with suppress(BaseException):
        await client.sleep(50)
    await client.sleep(50)


async def for_ever(client: Client) -> None:
    """Swallows every exception, and tries again for ever."""
    while True:
        try:
            await client.sleep(50)
        except BaseException:  # noqa: BLE001
            continue


async def suppresses(client: Client) -> None:
    """A context manager is as good as a bare `except`."""
    while True:
        with suppress(BaseException):
            await client.sleep(50)


async def and_writes(client: Client) -> None:
    """Swallows Crashed, and reports that it is still there."""
    with suppress(BaseException):
        await client.sleep(50)
    await client.update(note("n", by="a ghost"), whatever_it_was=True)


async def and_records(client: Client) -> None:
    """Swallows Crashed, and writes a record."""
    with suppress(BaseException):
        await client.sleep(50)
    client.record("still here")


@both_drivers
@each_row("main", [goes_on, for_ever, suppresses, and_writes, and_records])
def test_who_swallows_crashed_and_goes_on_is_named(driver: str, main: Doing) -> None:
    """It is the scenario's mistake and ends the Run, at once and for good; nothing was written."""
    world = world_of(alpha=main, beta=ticks)
    world.add(note())
    before = world.store.revision
    with pytest.raises(ScenarioError, match=r"alpha/main swallowed Crashed and went on \(step 3\)"):
        crash(world, 3, driver)
    assert world.store.revision == before
    assert not world.evidence.records


@both_drivers
def test_who_swallows_it_and_ends_has_ended(driver: str) -> None:
    """Nothing is wrong with a task that is over, however it got there."""

    async def main(client: Client) -> None:
        try:
            await client.sleep(50)
        except BaseException:  # noqa: BLE001
            return

    world = crash(world_of(alpha=main, beta=ticks), 3, driver)
    assert world.verdict is not None
    assert world.verdict.is_held


@both_drivers
def test_who_awaits_for_ever_on_the_way_out_is_named(driver: str) -> None:
    """A `finally` that begins again what was interrupted does not keep the World."""

    async def main(client: Client) -> None:
        async def again() -> None:
            try:
                await client.sleep(50)
            finally:
                await again()

        await again()

    with pytest.raises(ScenarioError, match="alpha/main does not end: it has awaited 100 times"):
        crash(world_of(alpha=main, beta=ticks), 3, driver)


@both_drivers
def test_a_swallower_is_found_out_at_the_end_of_a_run_as_well(driver: str) -> None:
    """Every life ends there, as by a crash."""
    world = world_of(alpha=for_ever)
    world.limit(turns_max=3)
    with pytest.raises(ScenarioError, match="alpha/main swallowed Crashed and went on"):
        world.run(Calm(), driver=driver)


# -- handlers -----------------------------------------------------------------------------------


@both_drivers
def test_a_handler_that_raises_ends_the_life_of_its_actor(driver: str) -> None:
    """It runs in the turn of its delivery, in the task of its Cache; the place is its own."""

    async def main(client: Client) -> None:
        cache = Cache(client, Note)

        def breaks(new: Note) -> None:
            raise ValueError(f"cannot bear {new.meta.name}")

        cache.on(add=breaks)
        await cache.synced()
        await client.sleep(50)

    async def writes(client: Client) -> None:
        await client.sleep(5)
        await client.create(note("new"))

    world = world_of(alpha=main, beta=writes)
    verdict = world.run(Calm(), driver=driver)
    (death,) = world.table.deaths
    assert (death.path, death.error) == (
        "alpha/cache-notes", "ValueError: cannot bear new",
    )  # fmt: skip
    assert death.place.endswith("in breaks")
    assert (verdict.end, verdict.virtual_ms) == ("violated", 5)


# -- the next life ------------------------------------------------------------------------------


@attrs.frozen
class Remembers(Actor):
    """Counts in its own memory, and records how far it got."""

    async def run(self, client: Client) -> None:
        memory: list[int] = []
        cache = Cache(client, Note)
        client.record("woke", memory=len(memory), known=len(cache.items), at=client.now())
        while True:
            await client.sleep(10)
            memory.append(client.now())


@both_drivers
def test_a_restart_begins_with_empty_memory(driver: str) -> None:
    """Its variables, its Cache, its tasks and its names are new; so is its factory's actor."""
    made: list[Actor] = []

    def factory() -> Actor:
        made.append(Remembers("alpha"))
        return made[-1]

    world = World()
    world.add(note())
    world.start(factory)
    world.limit(virtual_ms_max=100)
    crash(world, 12, driver, restart_after_ms=7)
    facts = [record.facts for record in world.evidence.records]
    woke = facts[1].pop("at")
    assert woke % 10 == 7
    assert facts == [{"memory": 0, "known": 0, "at": 0}, {"memory": 0, "known": 0}]
    assert len(made) == 3
    assert made[1] is not made[2]


@both_drivers
def test_a_life_can_crash_at_its_start_and_come_back_again_and_again(driver: str) -> None:
    """A crash before the next start leaves one start only; in the end one life is up."""
    for seed in range(60):
        world = world_of(alpha=ticks)
        world.allow(Crash("alpha", times_max=4, restart_after_ms=2))
        trace = Trace({}, keep=True)
        verdict = world.run(Uniform(seed), driver=driver, trace=trace)
        assert verdict.is_held
        starts = [step for step in trace.steps if step.kind == "start"]
        assert len(starts) == verdict.faults + 1 == world.table.roles["alpha"].lives
        assert [step.sentence.nth for step in starts] == list(range(1, len(starts) + 1))


@both_drivers
def test_a_watch_of_a_life_ends_with_it_and_its_path_is_free_again(driver: str) -> None:
    """Two watches on one kind: both are closed; those of the next life are called the same."""

    async def main(client: Client) -> None:
        revision = (await client.list(Note)).revision
        one = await client.watch(Note, revision)
        other = await client.watch(Note, revision)
        await client.first(one.next(), other.next())

    async def writes(client: Client) -> None:
        await client.sleep(20)
        await client.create(note("new"))

    world = world_of(alpha=main, beta=writes)
    crash(world, 9, driver, restart_after_ms=1)
    delivered = [step.sentence.path for step in world.trace.steps if step.kind == "deliver"]
    assert delivered == ["alpha/watch-notes"]
    assert not world.wire.streams.open


@both_drivers
def test_a_crash_at_any_turn_leaves_the_others_as_they_were(driver: str) -> None:
    """Beta does the same, at the same times, whenever alpha dies."""

    async def busy(client: Client) -> None:
        for n in range(3):
            await client.create(note(f"{client.name}-{n}"))
            await client.sleep(3)

    expected: list[list[tuple[str, int]]] = []

    def play(chooser: Struck) -> None:
        world = world_of(alpha=busy, beta=busy)
        world.allow(Crash("alpha", restart_after_ms=None))
        trace = Trace({}, keep=True)
        assert world.run(chooser, driver=driver, trace=trace).is_held
        did = [s for s in trace.steps if s.option.actor == "beta"]
        expected.append([(str(step.sentence), step.now_ms) for step in did])

    struck = [chooser.has_struck for chooser in at_every_turn("crash alpha", play)]
    assert sum(struck) > 15
    assert all(each == expected[0] for each in expected)
