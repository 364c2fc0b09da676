"""The two drivers play the same: a bare loop is the check for trio."""

from __future__ import annotations

from typing import Any

import attrs
import pytest
import trio

from testbed.choosers.calm import Calm
from testbed.choosers.uniform import Uniform
from testbed.client.actor import Actor
from testbed.client.cache import Cache
from testbed.client.client import Client
from testbed.errors import ApiError, Cancelled, HarnessBug
from testbed.faults.break_watch import BreakWatch
from testbed.faults.clock_step import ClockStep
from testbed.faults.compact import Compact
from testbed.faults.crash import Crash
from testbed.faults.lag import Lag
from testbed.faults.lose_reply import LoseReply
from testbed.faults.lose_request import LoseRequest
from testbed.faults.partition import Partition
from testbed.faults.restart import Restart
from testbed.faults.server_error import ServerError
from testbed.faults.stall import Stall
from testbed.objects import Note
from testbed.store.endpoint import BETWEEN, Handler, Operation
from testbed.store.store import Store
from testbed.store.store_endpoint import StoreEndpoint
from testbed.turns.drivers.trio import _TrioRun, play_async
from testbed.turns.option import FAULT, PICK
from testbed.turns.pending import CALM_ORDER, Alternatives, Options
from testbed.world.scenario import Scenario, of, play_runs
from testbed.world.world import World
from tests.each_row import each_row
from tests.models.worlds.recipes import recipes
from tests.shared.stage import note, world_of

DRIVERS = ("trio", "direct")
NAMES = ("red", "green", "blue")
DEAR = {
    ("tug_of_war", False): 2, ("hostile_schedulers", False): 5, ("pressure_pingpong", False): 9,
    ("descheduler_pingpong", False): 9,
}  # fmt: skip
"""So much fewer Runs, where each proves a lap."""


class TwoParts(StoreEndpoint):
    """The Store's Endpoint under another name; its writes take two turns, and its reads lag."""

    def __init__(self, store: Store) -> None:
        super().__init__(store, "slow", lags=("notes",))

    def handle(self, operation: Operation, caller: str, now_ms: int) -> Handler:
        if operation.verb in ("create", "update"):
            yield BETWEEN
        return (yield from super().handle(operation, caller, now_ms))


@attrs.frozen
class Worker(Actor):
    """A Cache whose handlers fill a queue, two workers that take from it and write, and a keeper
    that cancels one of them and spawns another."""

    async def run(self, client: Client) -> None:
        cache = Cache(client, Note)
        todo, tired = client.queue("todo", idle=True), client.signal("tired")

        def changed(*notes: Note) -> None:
            todo.put(notes[-1].meta.name)

        cache.on(add=changed, update=changed, delete=changed)

        async def works(n: int) -> int:
            done = 0
            while done < 3:
                place, name = await client.first(todo.get(), tired.wait(), client.sleep(60, "idle"))
                if place != 0:
                    break
                known = cache.get(name)
                try:
                    if known is None:
                        await client.create(note(name, by=self.name))
                    elif client.pick("touch", ["no", "yes"]) == "yes":
                        said = known.saying(by=f"{self.name}/{n}")
                        await client.update(said, timeout_ms=40, because=client.record("touch"))
                        done += 1
                except ApiError as error:
                    client.record("refused", why=error.reason)
                    await client.sleep(5, "retry")
            return done

        async def naps() -> None:
            try:
                await client.sleep(500, "nap")
            except Cancelled:
                client.record("cancelled", at=client.now())
                raise
            finally:
                await client.sleep(1, "yawn")

        await cache.synced()
        tasks = [client.spawn("works", works, n) for n in range(2)]
        nap = client.spawn("naps", naps)
        client.record("done", of=await client.join(tasks[0]))
        client.cancel(nap)
        tired.set()
        await client.join(tasks[1])
        await client.join(nap)


@attrs.frozen
class User(Actor):
    """Creates and deletes, sends messages, asks the slow Endpoint, and watches by itself."""

    async def run(self, client: Client) -> None:
        stream = None
        for n in range(4):
            await client.sleep(10 * client.pick("pause", [1, 2, 3]), "pause")
            name = client.pick("name", NAMES)
            try:
                if n == 1:
                    stream = await client.watch(Note, (await client.list(Note)).revision)
                await client.ask(Operation("list", "notes", endpoint="slow"))
                await client.create(note(name, by=self.name))
                slow = Operation("get", "notes", name, "default", endpoint="slow")
                await client.ask(slow, timeout_ms=20)
                client.tell(Operation("delete", "notes", name, "default", endpoint="slow"))
                if stream is not None:
                    seen = await client.first(stream.next(), client.sleep(30))
                    client.record("saw", place=seen[0])
            except ApiError as error:
                client.record("refused", why=error.reason)
                stream = None if error.code in (410, 503) else stream


def rich(world: World, *, delay: int = 0) -> None:
    """Several tasks, queues, signals, Caches, watches, timers, and faults of every word."""
    world.add(*(note(name) for name in NAMES[:2]))
    world.serve(TwoParts)
    world.start(Worker("alpha"), Worker("beta"), User("user"))
    world.allow(
        Crash("alpha", restart_after_ms=7), Crash("slow"), Crash("store", restart_after_ms=3),
        Restart(), Stall("beta", by_ms=15), Lag(by_ms=25, for_ms=100), Partition(for_ms=20),
        LoseRequest(), LoseReply(), ServerError(code=503), BreakWatch(times_max=2), Compact(),
        ClockStep(by_ms=-50),
    )  # fmt: skip
    world.limit(delay_max_ms=delay, turns_max=600)
    world.goes_on = True


def crashing(scenario: Scenario) -> Scenario:
    """The same with up to three crashes, of any actor and of the Store's Endpoint."""

    def build(world: World) -> None:
        scenario.build(world)
        world.allow(Crash(times_max=3, restart_after_ms=10))

    return of(build, scenario.name)


class Heard:
    """The digest of each Run's trace, and the kinds of what was in them."""

    def __init__(self) -> None:
        self.digests: list[str] = []
        self.kinds: set[str] = set()
        self.outcomes: set[str] = set()

    def look(self, world: World) -> bool:
        """One Run has ended."""
        assert world.verdict is not None
        self.digests.append(world.trace.digest())
        self.outcomes.add(world.verdict.outcome)
        for step in world.trace.steps:
            self.kinds.add(step.option.verb if step.kind == FAULT else step.kind)
        return True


def played(scenario: Scenario, driver: str, runs: int, **switches: Any) -> Heard:
    """So many random Runs of it."""
    heard = Heard()
    play_runs(
        scenario, Uniform(5), heard.look, runs_max=runs, switches=switches, driver=driver, keep=True
    )
    assert len(heard.digests) == runs
    return heard


def runs(few: int) -> pytest.MarkDecorator:
    """So many random Runs; and, in minutes, a thousand."""
    return pytest.mark.parametrize("runs", [few, pytest.param(1_000, marks=pytest.mark.long)])


@runs(10)
@pytest.mark.parametrize("scenario", recipes())
def test_both_drivers_leave_the_same_traces(scenario: Scenario, runs: int) -> None:
    """Of random Runs with crashes and restarts, to the byte."""
    for guard in (False, True):
        if scenario.name != "hostile_schedulers" or guard or runs > 10:
            leave_the_same_traces(scenario, guard=guard, runs=runs)


def leave_the_same_traces(scenario: Scenario, *, guard: bool, runs: int) -> None:
    """On one side of its guard."""

    def build(world: World) -> None:
        scenario.build(world, guard=guard)

    runs //= DEAR.get((scenario.name, guard), 1)
    trios, direct = (played(crashing(of(build, scenario.name)), d, runs) for d in DRIVERS)
    assert trios.digests == direct.digests
    first = trios.digests[:40]
    assert len(set(first)) > 4 * len(first) // 5
    assert "crash" in trios.kinds


@runs(40)
@each_row("delay", [0, 30])
def test_both_drivers_leave_the_same_traces_of_a_rich_world(delay: int, runs: int) -> None:
    """With several tasks an actor, all that a task can wait for, and every kind of fault."""
    trios, direct = (played(of(rich), d, runs, delay=delay) for d in DRIVERS)
    assert trios.digests == direct.digests
    assert trios.outcomes == direct.outcomes
    assert trios.kinds >= {*CALM_ORDER, PICK}
    assert trios.kinds >= {
        "crash", "restart", "stall", "lag", "partition", "lose_request", "lose_reply",
        "server_error", "break_watch", "compact", "clock_step",
    }  # fmt: skip


def test_a_turn_that_cannot_be_handed_on_ends_the_run() -> None:
    """Were the testbed to lose track of a task, it would say so and let go of all of them, instead
    of waiting for ever; the next Run in the same session is as if nothing had been."""

    async def main(client: Client) -> None:
        for _ in range(3):
            await client.sleep(1)

    class Loses(Calm):
        def choose(self, options: Options | Alternatives) -> int:
            if options[0].kind == "wake" and options[0].actor == "beta":
                options[0].seat.life.host.is_parked = False
            return 0

    bad, good = world_of(alpha=main, beta=main, gamma=main), world_of(alpha=main)
    assert bad.prepare(Loses())
    assert good.prepare(Calm())
    failures: list[BaseException] = []

    async def both() -> None:
        try:
            await play_async(bad.table)
            bad.conclude()
        except HarnessBug as error:
            failures.append(error)
        await play_async(good.table)
        good.conclude()

    trio.run(both)
    assert [str(f) for f in failures] == [
        "beta was to be woken, but it is not parked in a turn"
    ]  # fmt: skip
    assert good.verdict is not None
    assert good.verdict.is_held


async def test_a_task_that_is_not_parked_in_a_turn_is_never_woken() -> None:
    """Waking it would destroy all of trio; it is our bug, and said so."""
    world = world_of()
    assert world.prepare(Calm())
    play = _TrioRun(world.table)
    with pytest.raises(HarnessBug, match="is not parked in a turn"):
        play.hand_to(None)
    await trio.lowlevel.checkpoint()
