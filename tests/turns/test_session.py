"""World after World in one session of a driver: nothing of one is left for the next."""

from __future__ import annotations

import gc
import sys
from collections.abc import Iterator

import pytest
import trio

from testbed.choosers.calm import Calm
from testbed.choosers.uniform import Uniform
from testbed.client.cache import Cache
from testbed.client.client import Client
from testbed.errors import HarnessBug, ScenarioError
from testbed.faults.crash import Crash
from testbed.objects import Note
from testbed.turns.drivers import trio as trio_driver
from testbed.turns.garbage import collected_between
from testbed.turns.life import Life, Seat
from testbed.turns.option import Option
from testbed.turns.session import play_all
from testbed.turns.table import Table
from testbed.turns.trace import Trace
from testbed.turns.verdict import Verdict
from testbed.world.world import World
from tests.each_row import each_row
from tests.shared.stage import note, world_of
from tests.shared.strike import Raises

DRIVERS = ("trio", "direct")
both_drivers = each_row("driver", DRIVERS)


async def busy(client: Client) -> None:
    """A bit of everything: a Cache, five tasks, queues, timers, deadlines, writes."""
    cache = Cache(client, Note)
    inbox, ready = client.queue("inbox", idle=True), client.signal("ready")

    async def works(n: int) -> None:
        try:
            while True:
                await client.first(inbox.get(), client.sleep(40))
                await client.update(note(f"n{n}", by=client.name), whatever_it_was=True)
                ready.set()
        finally:
            await client.sleep(1)

    tasks = [client.spawn("works", works, n) for n in range(3)]
    await cache.synced()
    for n in range(3):
        inbox.put(n)
    await client.get(Note, "n1", timeout_ms=50)
    await client.sleep(30)
    await ready.wait()
    for task in tasks:
        client.cancel(task)
        await client.join(task)


def busy_world(crashes: int = 2) -> World:
    """Two busy actors, and crashes."""
    world = world_of(alpha=busy, beta=busy)
    world.add(*(note(f"n{n}") for n in range(3)))
    world.allow(Crash(times_max=crashes, restart_after_ms=10))
    world.limit(turns_max=400)
    return world


def seats_of(world: World) -> list[Seat]:
    """Every task that has not ended."""
    lives = [role.life for role in world.table.roles.values() if role.life is not None]
    return [seat for life in lives for seat in life.seats.values()]


@both_drivers
def test_after_every_run_nothing_of_it_is_left(driver: str) -> None:
    """40 Runs with crashes in one session: no task of trio, no seat, no offer; and, a
    collection later, no more objects than one World has."""
    counts: list[int] = []
    crashes = 0

    def worlds() -> Iterator[World]:
        nonlocal crashes
        chooser = Uniform(3)
        for number in range(40):
            if driver == "trio":
                assert trio.lowlevel.current_statistics().tasks_living == alive()
            world = busy_world()
            assert world.prepare(chooser, number=number)
            yield world
            assert world.verdict is not None
            crashes += world.verdict.faults
            assert not seats_of(world)
            assert not world.table.dying
            assert world.table.running is None
            assert not [o for o in world.table.pending if o.seat is not None]
            assert not world.wire.streams.open
            del world
            if number % 10 == 9:
                gc.collect()
                counts.append(count())

    living: list[int] = []

    def alive() -> int:
        living.append(trio.lowlevel.current_statistics().tasks_living)
        return living[0]

    gc.collect()
    before = count()
    play_all(worlds(), driver=driver)
    assert crashes > 30
    assert len(set(living)) <= 1
    assert max(counts) < before + 50


def count() -> int:
    """How many objects of Worlds there are; the session still has hold of the last one."""
    kinds = (World, Table, Life, Seat, Option, Client)
    return sum(isinstance(each, kinds) for each in gc.get_objects())


@both_drivers
def test_the_next_world_is_asked_for_when_the_last_has_ended(driver: str) -> None:
    """So that its Verdict may decide whether there is to be another."""
    told: list[str] = []

    def worlds() -> Iterator[World]:
        for number in range(3):
            world = busy_world()
            assert world.prepare(Calm(), number=number)
            told.append(f"begins {number}")
            yield world
            assert world.verdict is not None
            told.append(f"{world.verdict.outcome} {number}")
            if number == 1:
                return

    play_all(worlds(), driver=driver)
    assert told == ["begins 0", "held 0", "begins 1", "held 1"]


@both_drivers
def test_the_collector_rests_while_a_run_is_played(driver: str) -> None:
    """It may not stop a turn; afterwards it is as it was, however the Run has ended."""
    seen: list[bool] = []

    async def main(client: Client) -> None:
        seen.append(gc.isenabled())
        await client.sleep(1)

    assert gc.isenabled()
    world_of(alpha=main).run(Calm(), driver=driver)
    assert gc.isenabled()
    with pytest.raises(ValueError, match="broken"):
        world_of(alpha=main).run(Raises(1, ValueError("broken")), driver=driver)
    assert gc.isenabled()
    gc.disable()
    try:
        world_of(alpha=main).run(Calm(), driver=driver)
        assert not gc.isenabled()
    finally:
        gc.enable()
    assert seen == [False, False, False]


def test_the_collector_can_be_kept_away_from_many_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is there already is not looked at again; afterwards it is as it was."""
    monkeypatch.setattr("testbed.turns.garbage._Runs.are_frozen", False)
    frozen = gc.get_freeze_count()
    with collected_between():
        assert not gc.isenabled()
        assert gc.get_freeze_count() > frozen
    assert gc.isenabled()
    assert gc.get_freeze_count() == 0
    # As the other tests have it.
    gc.freeze()


def test_what_is_frozen_for_good_stays_so() -> None:
    """However many Runs are played in between, as these tests do."""
    frozen = gc.get_freeze_count()
    assert frozen > 0
    with collected_between():
        assert not gc.isenabled()
        assert gc.get_freeze_count() == frozen
    assert gc.isenabled()
    assert gc.get_freeze_count() == frozen


def test_within_many_runs_many_more_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """A shrink within a search leaves to the search what it has frozen."""
    monkeypatch.setattr("testbed.turns.garbage._Runs.are_frozen", False)
    with collected_between():
        frozen = gc.get_freeze_count()
        with collected_between():
            assert gc.get_freeze_count() == frozen
        assert not gc.isenabled()
        assert gc.get_freeze_count() == frozen
    assert gc.isenabled()
    gc.freeze()


@both_drivers
def test_of_many_runs_garbage_is_collected_between(
    driver: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """When there is enough of it, and in no turn; what survives it is looked at in the end, too."""
    monkeypatch.setattr("testbed.turns.garbage.ENOUGH", 500)
    generations: list[int] = []
    turns: list[bool] = []
    playing: list[World] = []

    def is_in_a_turn() -> bool:
        return bool(playing) and playing[0].table.running is not None

    def seen(phase: str, info: dict[str, int]) -> None:
        if phase == "stop":
            generations.append(info["generation"])
            turns.append(is_in_a_turn())

    with collected_between():
        gc.callbacks.append(seen)
        try:
            for number in range(20):
                playing[:] = [busy_world()]
                playing[0].run(Uniform(number), driver=driver)
            counted = count()
        finally:
            gc.callbacks.remove(seen)
    assert generations.count(1) > generations.count(2) > 0
    assert 0 not in generations
    assert not any(turns)
    playing.clear()
    gc.collect()
    assert counted < 20 * 50 + count()


@both_drivers
def test_a_run_that_fails_ends_the_session(driver: str) -> None:
    """With its error, bare; what was to be played after it is not."""
    said: list[str] = []
    error = ValueError("broken")

    async def main(client: Client) -> None:
        said.append(client.name)
        await client.sleep(1)

    def worlds() -> Iterator[World]:
        for number, name in enumerate("abc"):
            world = world_of(**{name: main})
            chooser = Raises(1, error) if name == "b" else Calm()
            assert world.prepare(chooser, number=number)
            yield world

    with pytest.raises(ValueError, match="broken") as caught:
        play_all(worlds(), driver=driver)
    assert caught.value is error
    assert said == ["a", "b"]
    assert world_of(alpha=main).run(Calm(), driver=driver).is_held


@both_drivers
def test_asyncgen_hooks_are_as_they_were(driver: str) -> None:
    """A driver may set them aside while it plays."""
    before = sys.get_asyncgen_hooks()
    busy_world().run(Calm(), driver=driver)
    assert sys.get_asyncgen_hooks() == before


def test_what_is_left_behind_is_told() -> None:
    """A task of trio that outlives its Run is our bug, and is not taken over into the next."""

    def tables() -> Iterator[Table]:
        world = busy_world(0)
        assert world.prepare(Calm())
        trio.lowlevel.spawn_system_task(trio.sleep_forever)
        yield world.table

    with pytest.raises(HarnessBug, match=r"left 1 trio task\(s\) behind"):
        trio_driver.play_all(tables())


# -- within a trio.run that is there already ----------------------------------------------------


async def for_ever(client: Client) -> None:
    """Lets time pass, and looks at its clock."""
    while True:
        client.now()
        await client.sleep(1)


async def test_a_world_can_be_played_inside_trio() -> None:
    """Awaited, it gives its Verdict, as `run` does; nothing is left in the nursery it had."""
    alive = trio.lowlevel.current_statistics().tasks_living
    digests = []
    for _ in range(2):
        trace = Trace({}, keep=True)
        assert (await busy_world(0).play(Calm(), trace=trace)).is_held
        digests.append(trace.digest())
        assert trio.lowlevel.current_statistics().tasks_living == alive
    assert digests[0] == digests[1]


async def test_two_worlds_can_be_played_beside_each_other() -> None:
    """In one nursery: neither knows of the other, and each is as if it were alone."""
    verdicts: list[Verdict] = []

    async def play() -> None:
        verdicts.append(await busy_world(0).play(Calm()))

    async with trio.open_nursery() as nursery:
        for _ in range(3):
            nursery.start_soon(play)
    assert len(verdicts) == 3
    assert len({str(verdict) for verdict in verdicts}) == 1


class Cancels(Calm):
    """Cancels the scope it plays in at a turn."""

    def __init__(self, scope: trio.CancelScope, at: int) -> None:
        self.scope = scope
        self.at = at
        self.asked = 0

    def choose(self, options: object) -> int:
        self.asked += 1
        if self.asked == self.at:
            self.scope.cancel()
        return 0


async def test_a_cancelled_world_ends_is_torn_down_and_passes_it_on() -> None:
    """At its next turn; every `finally` has run, in order, before the awaiting code goes on."""
    ended: list[str] = []

    async def main(client: Client) -> None:
        try:
            while True:
                await client.sleep(client.now() % 2 + 1)
        finally:
            ended.append(client.name)

    alive = trio.lowlevel.current_statistics().tasks_living
    world = world_of(alpha=main, beta=main)
    trace = Trace({}, keep=True)
    with trio.CancelScope() as scope:
        await world.play(Cancels(scope, 10), trace=trace)
        raise AssertionError("the cancellation was not passed on")
    assert scope.cancelled_caught
    assert ended == ["alpha", "beta"]
    assert trace.end is not None
    assert str(trace.end["end"]).startswith("interrupted after turn 1")
    assert trio.lowlevel.current_statistics().tasks_living == alive
    assert (await world_of(alpha=for_once).play(Calm())).is_held


async def for_once(client: Client) -> None:
    """Lets a little time pass."""
    await client.sleep(1)


async def test_a_world_ends_by_the_deadline_of_whoever_awaits_it() -> None:
    """Also one that would go on for ever."""

    def endless() -> World:
        world = world_of(alpha=for_ever, beta=for_ever)
        world.limit(turns_max=10**9, virtual_ms_max=10**12)
        return world

    with trio.move_on_after(0.05) as scope:
        await endless().play(Calm())
    assert scope.cancelled_caught
    with pytest.raises(trio.TooSlowError), trio.fail_after(0.05):
        await endless().play(Calm())


async def test_an_error_leaves_play_bare() -> None:
    """No ExceptionGroup, though there was a nursery."""
    with pytest.raises(ValueError, match="broken"):
        await busy_world().play(Raises(20, ValueError("broken")))


# -- once ---------------------------------------------------------------------------------------


@both_drivers
def test_a_world_is_run_once(driver: str) -> None:
    """Whether anything happened in it or not, whether it held or raised."""
    once = "a World is run once and thrown away"
    for world in (busy_world(), World()):
        world.run(Calm(), driver=driver)
        with pytest.raises(ScenarioError, match=once):
            world.run(Calm(), driver=driver)
    world = busy_world()
    with pytest.raises(ValueError, match="broken"):
        world.run(Raises(0, ValueError("broken")), driver=driver)
    with pytest.raises(ScenarioError, match=once):
        world.run(Calm(), driver=driver)


async def test_a_world_is_played_once() -> None:
    """Awaited or not."""
    world = busy_world()
    await world.play(Calm())
    with pytest.raises(ScenarioError, match="a World is run once"):
        await world.play(Calm())


def test_a_world_is_prepared_once() -> None:
    """Also before its first turn: a second Chooser would leave the first without its Run."""
    world = busy_world()
    assert world.prepare(Calm())
    with pytest.raises(ScenarioError, match="a World is run once"):
        world.prepare(Calm())
