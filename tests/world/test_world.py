"""World: what is assembled, what one Run of it is, and what it tells."""

from __future__ import annotations

import io
from typing import Any

import attrs
import pytest

from testbed.chooser import Chooser, Plan, RunInfo
from testbed.choosers.calm import Calm
from testbed.choosers.struck import Struck
from testbed.client.actor import Actor
from testbed.client.client import Client
from testbed.errors import HarnessBug, ScenarioError
from testbed.faults.crash import Crash
from testbed.faults.stall import Stall
from testbed.objects import Note
from testbed.store.store import Store
from testbed.store.store_endpoint import StoreEndpoint
from testbed.turns.pending import Alternatives, Options
from testbed.turns.trace import Step, Trace
from testbed.turns.verdict import Verdict
from testbed.world.world import World
from tests.each_row import each_row
from tests.shared.stage import Puppet, note, world_of

DRIVERS = ("trio", "direct")
both_drivers = each_row("driver", DRIVERS)


async def reads(client: Client) -> None:
    """Reads the note, and rests a while."""
    await client.get(Note, "n")
    await client.sleep(5)


# -- assembling ---------------------------------------------------------------------------------


def test_objects_are_there_before_anything_moves() -> None:
    """In the order they were given, as the Store's Endpoint would have created them."""
    world = World()
    world.add(note("a"), note("b"))
    world.add(note("c"))
    entries = world.store.snapshot("notes/")
    metas = [entry.value.meta for entry in entries]  # type: ignore[attr-defined]
    assert [(m.name, str(m.revision), m.uid) for m in metas] == [
        ("a", "2", "scenario-1"), ("b", "3", "scenario-2"), ("c", "4", "scenario-3"),
    ]  # fmt: skip
    with pytest.raises(ScenarioError, match="given notes/default/a a second time"):
        world.add(note("a"))


def test_two_actors_or_endpoints_never_share_a_name() -> None:
    """A sentence about one would be about the other."""
    world = world_of(alpha=reads)
    with pytest.raises(ScenarioError, match="two actors or Endpoints are called 'alpha'"):
        world.start(Puppet("alpha", reads))
    with pytest.raises(ScenarioError, match="'store'"):
        world.start(Puppet("store", reads))


def test_an_endpoint_can_be_replaced() -> None:
    """By one of the same name, on the same Store."""

    class Lagging(StoreEndpoint):
        """The Store's own, behind."""

        def __init__(self, store: Store) -> None:
            super().__init__(store, lags=("notes",))

    world = World()
    world.serve(Lagging)
    assert isinstance(world.wire.posts["store"].endpoint, Lagging)
    assert list(world.wire.posts) == ["store"]


@attrs.define
class Changes(Actor):
    """Settings that can change."""

    memory: list[int] = attrs.field(factory=list)

    async def run(self, client: Client) -> None:
        """Do nothing."""


@attrs.frozen
class Holds(Actor):
    """Frozen settings that hold something that can change."""

    memory: list[int] = attrs.field(factory=list)

    async def run(self, client: Client) -> None:
        """Do nothing."""


@each_row("kind", [Changes, Holds])
def test_what_could_keep_its_memory_over_a_restart_is_not_started(kind: type[Actor]) -> None:
    """It says how to start it instead: by a factory."""
    world = World()
    with pytest.raises(ScenarioError, match="it would keep its memory across a restart") as caught:
        world.start(kind("alpha"))
    assert f"world.start(lambda: {kind.__name__}('alpha'))" in str(caught.value)
    world.start(lambda: kind("alpha"))
    assert list(world.table.roles) == ["alpha"]


@both_drivers
def test_an_actor_that_cannot_be_made_again_ends_the_run(driver: str) -> None:
    """The error of a factory is the scenario's, and leaves bare."""
    made: list[int] = []

    def factory() -> Actor:
        made.append(1)
        if len(made) == 3:
            raise ValueError("no more")
        return Puppet("alpha", reads)

    world = World()
    world.add(note())
    world.start(factory)
    world.allow(Crash("alpha", restart_after_ms=1))
    with pytest.raises(ValueError, match="no more"):
        world.run(Struck(2, "crash alpha"), driver=driver)


# -- one Run ------------------------------------------------------------------------------------


@both_drivers
def test_a_verdict_says_how_far_it_looked(driver: str) -> None:
    """Turns, virtual time, faults, and who has chosen: a bounded pass is never called a proof."""
    world = world_of(alpha=reads)
    world.add(note())
    world.allow(Stall("alpha", by_ms=10))
    verdict = world.run(Struck(2, "stall alpha"), driver=driver)
    assert verdict == Verdict("held", "quiet", (), 5, 15, 1, "stall alpha at turn 2")
    assert world.verdict is verdict
    assert str(verdict) == (
        "Held. Looked at: 1 run (stall alpha at turn 2), 5 turns, 15 ms virtual time, 1 fault."
    )


class Tells(Chooser):
    """Keeps the order in which it was called."""

    def __init__(self) -> None:
        self.told: list[str] = []

    def begin(self, run: RunInfo) -> Plan | None:
        self.told.append(f"begin {run.scenario} {run.number} {run.faults_max}")
        return Plan("tells") if run.number < 2 else None

    def choose(self, options: Options | Alternatives) -> int:
        self.told.append("choose")
        return 0

    def ended(self, step: Step) -> None:
        self.told.append(f"ended {step.number}")

    def end(self, trace: Trace, verdict: Verdict) -> None:
        self.told.append(f"end {verdict.outcome} {len(trace.choices)}")

    @property
    def note(self) -> str:
        return "It told everything."


@both_drivers
def test_a_chooser_is_told_in_order(driver: str) -> None:
    """begin, then choose and ended for each turn, then end, when all is torn down."""
    ended: list[str] = []

    async def main(client: Client) -> None:
        try:
            await client.queue(idle=True).get()
        finally:
            ended.append(client.name)

    chooser = Tells()
    world = world_of(alpha=main, beta=main)
    world.allow(Crash(times_max=2), Stall())
    verdict = world.run(chooser, driver=driver, number=1)
    assert chooser.told == [
        "begin test 1 3", "choose", "ended 1", "choose", "ended 2", "end undecided 2",
    ]  # fmt: skip
    assert ended == ["alpha", "beta"]
    assert str(verdict).endswith("0 faults. It told everything.")
    with pytest.raises(ScenarioError, match="Tells has no Run left to play"):
        World().run(chooser, driver=driver, number=2)


class Index(Calm):
    """Gives an index that is not there."""

    def __init__(self, index: int) -> None:
        self.index = index

    def choose(self, options: Options | Alternatives) -> int:
        return self.index


@both_drivers
@each_row("index", [-1, 2, 99])
def test_an_index_that_was_not_offered_is_refused(driver: str, index: int) -> None:
    """Of an Option, of a fault, of an alternative; negative ones as well."""
    world = world_of(alpha=reads)
    world.allow(Crash("alpha"), Crash("store"))
    with pytest.raises(HarnessBug, match=f"calm chose option {index} of 2"):
        world.run(Index(index), driver=driver)

    async def picks(client: Client) -> None:
        client.pick("what", ["a", "b"])

    class Picks(Index):
        def choose(self, options: Options | Alternatives) -> int:
            return self.index if options[0].kind == "pick" else 0

    with pytest.raises(HarnessBug, match=f"chose alternative {index} of 2 for what"):
        world_of(alpha=picks).run(Picks(index), driver=driver)


@both_drivers
def test_a_fault_is_offered_as_often_as_it_may_strike(driver: str) -> None:
    """Its budget is spent by striking, not by being shown."""

    class Struck(Calm):
        def choose(self, options: Options | Alternatives) -> int:
            return options.ready if options.faults else 0

    world = world_of(alpha=reads)
    world.add(note())
    world.allow(Crash("alpha", times_max=3, restart_after_ms=0))
    verdict = world.run(Struck(), driver=driver)
    assert verdict.faults == 3
    assert verdict.is_held


@both_drivers
def test_nothing_is_asked_of_faults_by_a_calm_chooser(driver: str) -> None:
    """The calm run pays for no fault."""

    class Unasked(Crash):
        def ways(self, levers: Any) -> Any:
            raise AssertionError("nobody looks for faults")

    world = world_of(alpha=reads)
    world.add(note())
    world.allow(Unasked())
    assert world.run(Calm(), driver=driver).is_held


# -- what it leaves -----------------------------------------------------------------------------


class Full(io.BytesIO):
    """A disk with room for a number of writes."""

    def __init__(self, room: int) -> None:
        super().__init__()
        self.room = room

    def write(self, data: Any) -> int:
        self.room -= 1
        if self.room < 0:
            raise OSError(28, "No space left on device")
        return super().write(data)


@both_drivers
def test_a_trace_that_cannot_be_written_ends_the_run(driver: str) -> None:
    """At the header, at any turn, at the last line: the error leaves bare, all is torn down, and
    nothing hangs."""
    began: list[str] = []
    ended: list[str] = []

    async def main(client: Client) -> None:
        began.append(client.name)
        try:
            await client.sleep(5)
            await client.queue(idle=True).get()
        finally:
            ended.append(client.name)

    for room in range(6):
        world = world_of(alpha=main, beta=main)
        with pytest.raises(OSError, match="No space left"):
            world.run(Calm(), driver=driver, trace=Trace({}, sink=Full(room)))
        assert ended == began
        assert len(began) == min(room, 2)
        began.clear()
        ended.clear()
    world = world_of(alpha=main, beta=main)
    assert world.run(Calm(), driver=driver, trace=Trace({}, sink=Full(6))).is_held


@both_drivers
def test_the_calm_run_finishes_what_is_in_flight_first(driver: str) -> None:
    """Request and answer, then the watches of all, then the next decision, then time."""

    async def watches(client: Client) -> None:
        stream = await client.watch(Note, (await client.list(Note)).revision)
        while True:
            await stream.next()
            client.record("saw")

    async def writes(client: Client) -> None:
        await client.sleep(5)
        await client.create(note("new"))
        client.spawn("after", nothing)

    async def nothing() -> None:
        """Starts, and ends."""

    world = world_of(alpha=watches, beta=watches, gamma=writes, delta=writes_late)
    world.run(Calm(), driver=driver, trace=Trace({}, keep=True))
    told = [str(s.sentence) for s in world.trace.steps if s.now_ms == 5]
    assert told == [
        "wake gamma/main sleep",
        "serve gamma/main create notes/default/new",
        "answer gamma/main create notes/default/new",
        "deliver alpha/watch-notes notes/default/new ADDED",
        "deliver beta/watch-notes notes/default/new ADDED",
        "start gamma/after",
        "wake delta/main sleep",
    ]


async def writes_late(client: Client) -> None:
    """A timer of the same instant, set earlier."""
    await client.sleep(5)
