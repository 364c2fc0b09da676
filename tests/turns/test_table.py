"""Who holds the turn, and who may not move: one task at a time, and every error to its owner."""

from __future__ import annotations

import asyncio
import re
import types
from collections.abc import Awaitable, Callable, Coroutine, Generator
from typing import Any

import attrs
import pytest
import trio
from hypothesis.errors import StopTest

from testbed.chooser import Chooser
from testbed.choosers.calm import Calm
from testbed.choosers.struck import Struck
from testbed.choosers.uniform import Uniform
from testbed.client.actor import Actor
from testbed.client.client import Client
from testbed.errors import Cancelled, Crashed, HarnessBug, NotFound, ScenarioError
from testbed.faults.crash import Crash
from testbed.invariant import COMMIT, TURN, Evidence, Invariant
from testbed.objects import Note
from testbed.store.endpoint import BETWEEN, Endpoint, Handler, Operation
from testbed.store.footprint import NOTHING, Footprint
from testbed.store.watch import Cursor
from testbed.turns.life import refusal
from testbed.turns.option import PICK
from testbed.turns.pending import Alternatives, Options
from testbed.turns.trace import Step, Trace
from testbed.world.world import World
from tests.each_row import each_row
from tests.shared.stage import Doing, Puppet, note, world_of
from tests.shared.strike import Raises

DRIVERS = ("trio", "direct")
both_drivers = each_row("driver", DRIVERS)


def sentences(world: World) -> list[str]:
    """Of the Run that is over and was kept."""
    return [str(step.sentence) for step in world.trace.steps]


# -- one at a time ------------------------------------------------------------------------------


@both_drivers
def test_one_turn_moves_exactly_one_task(driver: str) -> None:
    """Whoever is the caller of its Client in a turn is the task that turn is about, whatever the
    tasks wait for and whoever is chosen."""

    def moves(seed: int) -> None:
        moved: list[tuple[int, str]] = []

        async def main(client: Client) -> None:
            inbox, ready = client.queue("inbox"), client.signal("ready")

            def here() -> None:
                moved.append((world.table.step, world.table.caller().path))

            async def takes() -> None:
                here()
                await client.first(inbox.get(), ready.wait())
                here()
                await client.get(Note, "n")
                here()

            here()
            tasks = [client.spawn("takes", takes) for _ in range(3)]
            await client.sleep(seed % 3)
            here()
            inbox.put("item")
            ready.set()
            for task in tasks:
                await client.join(task)
                here()

        world = world_of(alpha=main, beta=main)
        world.add(note())
        world.limit(delay_max_ms=1)
        world.run(Uniform(seed), driver=driver, trace=Trace({}, keep=True))
        about = {
            step.number: step.sentence.path
            for step in world.trace.steps
            if step.option.seat is not None or step.kind == "start"
        }
        assert len(moved) == 2 * (2 + 3 * 3 + 3)
        assert all(about[number] == path for number, path in moved)
        assert len({number for number, _ in moved}) == len(moved)

    for seed in range(10):
        moves(seed)


@both_drivers
def test_a_spawned_task_begins_in_a_turn_of_its_own(driver: str) -> None:
    """Its spawner goes on to its next await first; then its start is one Option among others."""
    said: list[str] = []

    async def main(client: Client) -> None:
        async def other() -> None:
            said.append("other")

        client.spawn("other", other)
        client.spawn("other", other)
        said.append("main")
        await client.sleep(0)
        said.append("woken")

    world = world_of(alpha=main)
    world.run(Calm(), driver=driver, trace=Trace({}, keep=True))
    assert said == ["main", "other", "other", "woken"]
    assert sentences(world) == [
        "start alpha/main", "start alpha/other", "start alpha/other#2", "wake alpha/main sleep",
    ]  # fmt: skip


@both_drivers
def test_a_life_lasts_as_long_as_any_task_of_it(driver: str) -> None:
    """`run` may return and leave its tasks to go on."""
    said: list[int] = []

    async def main(client: Client) -> None:
        async def other() -> None:
            await client.sleep(5)
            said.append(client.now())

        client.spawn("other", other)

    assert world_of(alpha=main).run(Calm(), driver=driver).is_held
    assert said == [5]


@attrs.frozen
class Sync(Actor):
    """An actor whose `run` is no coroutine."""

    def run(self, client: Client) -> None:  # type: ignore[override]
        client.record("ran")


NOT_ASYNC = (
    rf"^{re.escape(__file__)}, line \d+: alpha/main: the `run` of Sync gave None: "
    r"expected an async function without `yield`\.\nNext: write `async def run"
)


@both_drivers
def test_what_is_to_run_must_be_async(driver: str) -> None:
    """It is named; nothing is awaited that cannot be."""
    world = World()
    world.start(Sync("alpha"))
    with pytest.raises(ScenarioError, match=NOT_ASYNC):
        world.run(Calm(), driver=driver)


# -- cancelling ---------------------------------------------------------------------------------


@both_drivers
def test_a_task_that_is_cancelled_before_it_starts_never_does(driver: str) -> None:
    """Its start is withdrawn, at once, and it can be joined."""
    said: list[object] = []

    async def main(client: Client) -> None:
        async def other() -> None:
            said.append("started")

        task = client.spawn("other", other)
        client.cancel(task)
        said.append(task.has_ended)
        said.append(await client.join(task))
        await client.sleep(1)

    assert world_of(alpha=main).run(Calm(), driver=driver).is_held
    assert said == [True, None]


@both_drivers
def test_a_cancelled_task_ends_with_cancelled(driver: str) -> None:
    """In a turn of its own; its `finally` may await, it is no death, and has no result to give."""
    said: list[object] = []

    async def main(client: Client) -> None:
        async def other() -> None:
            try:
                await client.sleep(1000)
            except Cancelled:
                said.append(("cancelled", client.now()))
                raise
            finally:
                await client.sleep(5)
                said.append(("cleared", client.now()))

        task = client.spawn("other", other)
        await client.sleep(1)
        client.cancel(task)
        client.cancel(task)
        said.append(task.has_ended)
        assert await client.join(task) is None
        client.cancel(task)
        said.append(task.has_ended)

    world = world_of(alpha=main)
    assert world.run(Calm(), driver=driver, trace=Trace({}, keep=True)).is_held
    assert said == [False, ("cancelled", 1), ("cleared", 6), True]
    assert sentences(world).count("resume alpha/other cancel") == 1


@both_drivers
def test_a_cancellation_is_never_lost(driver: str) -> None:
    """If the wait it was meant for ends otherwise first, the next one is cancelled; whatever is
    chosen, the task ends and nobody is stuck."""
    ends: set[tuple[str, ...]] = set()

    for seed in range(30):
        said: list[str] = []

        async def main(client: Client, said: list[str] = said) -> None:
            inbox, never = client.queue("inbox"), client.signal("never")

            async def other() -> None:
                said.append(await inbox.get())
                await never.wait()

            task = client.spawn("other", other)
            await client.sleep(1)
            inbox.put("item")
            client.cancel(task)
            await client.join(task)

        assert world_of(alpha=main).run(Uniform(seed), driver=driver).is_held
        ends.add(tuple(said))
    assert ends == {(), ("item",)}


@both_drivers
def test_a_cancelled_task_may_be_cancelled_again(driver: str) -> None:
    """The first is over once Cancelled is raised; a second one interrupts what it does then."""
    said: list[object] = []

    async def main(client: Client) -> None:
        async def other() -> None:
            for _ in range(2):
                try:
                    await client.sleep(1000)
                except Cancelled:
                    said.append(client.now())

        task = client.spawn("other", other)
        for _ in range(2):
            await client.sleep(1)
            client.cancel(task)
        await client.join(task)

    assert world_of(alpha=main).run(Calm(), driver=driver).is_held
    assert said == [1, 2]


# -- picks and records --------------------------------------------------------------------------


@both_drivers
@pytest.mark.spec("GEN-5")
def test_a_pick_is_a_step_and_no_turn(driver: str) -> None:
    """It is decided by the Chooser and recorded, within the turn that asks: nothing comes between,
    and a choice of one is none."""
    said: list[str] = []

    async def main(client: Client) -> None:
        before = world.table.step
        said.append(client.pick("only", ["x"]))
        said.append(client.pick("node", ["n1", "n2", "n3"]))
        said.append(client.pick("node", ["n1", "n2", "n3"]))
        assert world.table.step == before
        await client.sleep(1)

    class Third(Calm):
        def choose(self, options: Options | Alternatives) -> int:
            return 2 if options[0].kind == PICK else 0

    world = world_of(alpha=main)
    verdict = world.run(Third(), driver=driver, trace=Trace({}, keep=True))
    assert said == ["x", "n3", "n3"]
    assert verdict.turns == 2
    assert sentences(world) == [
        "start alpha/main", "pick alpha/main node", "pick alpha/main node#2",
        "wake alpha/main sleep",
    ]  # fmt: skip
    assert [step.option.label for step in world.trace.steps] == ["", "n3", "n3", ""]
    assert [step.number for step in world.trace.steps] == [1, 2, 3, 4]
    assert world.trace.choices == [0, 2, 2, 0]


@both_drivers
def test_a_record_tells_who_wrote_it_and_in_which_turn(driver: str) -> None:
    """Its number can be named as the reason of a later write."""

    async def main(client: Client) -> None:
        first = client.record("seen", {"a": 1}, b=2)
        await client.create(note("new"), because=first)
        client.record("done")

    world = world_of(alpha=main)
    world.run(Calm(), driver=driver, trace=Trace({}, keep=True))
    first, second = world.evidence.records
    assert (first.number, first.step, first.path, first.facts) == (
        1, 1, "alpha/main", {"a": 1, "b": 2},
    )  # fmt: skip
    assert (second.number, second.step, second.facts) == (2, 3, {})
    assert world.trace.steps[1].because == 1


# -- what a turn did is known when it has ended -------------------------------------------------


class Listens(Uniform):
    """It keeps each Step that `ended` was called with, and when."""

    def __init__(self, seed: int) -> None:
        super().__init__(seed)
        self.heard: list[str] = []
        self.did: dict[int, Footprint] = {}

    def choose(self, options: Options | Alternatives) -> int:
        choice = super().choose(options)
        self.heard.append(f"chose {options[choice].sentence}")
        return choice

    def ended(self, step: Step) -> None:
        self.heard.append(f"ended {step.sentence}")
        self.did[step.number] = step.did


@both_drivers
def test_the_chooser_is_told_what_a_turn_did_once_it_has_ended(driver: str) -> None:
    """Each turn it chose is told before it chooses the next one, with all that the task touched
    until it waited again; nothing is added later."""

    async def main(client: Client) -> None:
        inbox, ready = client.queue("inbox"), client.signal("ready")

        async def takes() -> None:
            await ready.wait()
            await inbox.get()
            await client.update(note("n", by="takes"))

        client.spawn("takes", takes)
        await client.sleep(1)
        ready.set()
        inbox.put("item")
        assert client.pick("node", ["n1", "n2"])
        await client.get(Note, "n")

    for seed in range(10):
        chooser = Listens(seed)
        world = world_of(alpha=main)
        world.add(note())
        world.run(chooser, driver=driver, trace=Trace({}, keep=True))
        turns = [line for line in chooser.heard if " pick " not in line]
        assert turns[::2] == [line.replace("ended", "chose") for line in turns[1::2]]
        assert len(turns) == 2 * world.trace.steps[-1].number - 2
        assert chooser.did == {step.number: step.did for step in world.trace.steps}
        touched = set().union(*(did.reads | did.writes for did in chooser.did.values()))
        assert touched >= {
            "queue:alpha/inbox", "signal:alpha/ready", "mem:alpha", "notes/default/n",
            "log:notes.data.by",
        }  # fmt: skip
        woke = next(s for s in world.trace.steps if s.kind == "wake")
        assert chooser.did[woke.number].writes >= {"queue:alpha/inbox", "signal:alpha/ready"}


# -- who may not move ---------------------------------------------------------------------------


@types.coroutine
def foreign() -> Generator[object, Any, None]:
    """An awaitable that no driver knows."""
    yield "what is this"


async def future() -> None:
    """Awaits a future of asyncio."""
    loop = asyncio.new_event_loop()
    try:
        await asyncio.Future(loop=loop)
    finally:
        loop.close()


async def channel() -> None:
    """Awaits a channel of trio."""
    send, receive = trio.open_memory_channel[int](0)
    with send, receive:
        await receive.receive()


async def nursery() -> None:
    """Awaits the end of a nursery of trio."""
    async with trio.open_nursery() as tasks:
        tasks.start_soon(trio.sleep, 0)


async def shielded() -> None:
    """Awaits where trio cannot be cancelled from outside."""
    with trio.CancelScope(shield=True):
        await trio.sleep(3600)


AWAITS: list[tuple[str, Callable[[], Awaitable[Any]]]] = [
    ("trio", lambda: trio.sleep(0)),
    ("trio", lambda: trio.sleep(3600)),
    ("trio", lambda: trio.Event().wait()),
    ("trio", trio.lowlevel.checkpoint),
    ("trio", channel),
    ("trio", nursery),
    ("trio", shielded),
    ("trio", lambda: asyncio.sleep(0)),
    ("trio", future),
    ("trio", foreign),
    ("direct", lambda: asyncio.sleep(0)),
    ("direct", future),
    ("direct", foreign),
    ("direct", trio.lowlevel.checkpoint),
]


@each_row(("driver", "awaits"), AWAITS)
@each_row("swallows", [False, True])
def test_what_is_not_the_worlds_cannot_be_awaited(
    driver: str, awaits: Callable[[], Awaitable[Any]], swallows: bool
) -> None:
    """It ends the Run with the name of the task, even if the actor catches all it is told and
    tries again for ever; nobody really waits. Without trio there is nothing that could answer."""
    ended: list[str] = []
    went_on: list[str] = []

    async def main(client: Client) -> None:
        await client.sleep(1)
        while swallows:
            try:
                await awaits()
            except BaseException:  # noqa: BLE001
                continue
            went_on.append("again")
        await awaits()
        went_on.append("once")

    async def other(client: Client) -> None:
        try:
            await client.sleep(5)
        finally:
            ended.append("other")

    with pytest.raises(ScenarioError, match="alpha/main awaited something that is not the World's"):
        world_of(alpha=main, beta=other).run(Calm(), driver=driver)
    assert ended == ["other"]
    assert driver == "trio" or not went_on


@each_row("name", ["act", "carry", "main"])
def test_a_rule_that_is_broken_is_told_with_its_line(name: str) -> None:
    """Whatever the actor's function is called."""
    told: list[str] = []

    async def main(client: Client) -> None:
        told.append(refusal("that is against a rule.", "Next: do otherwise."))
        await client.sleep(1)

    main.__code__ = main.__code__.replace(co_qualname=name, co_name=name)
    world_of(alpha=main).run(Calm(), driver="direct")
    assert told[0].startswith(f"{__file__}, line ")


def test_asyncio_has_no_loop_to_run_in() -> None:
    """What needs one is refused like any other wait that is not the World's."""

    async def main(client: Client) -> None:
        await asyncio.sleep(1)

    with pytest.raises(ScenarioError, match="not the World's: RuntimeError: no running event loop"):
        world_of(alpha=main).run(Calm(), driver="direct")


def test_a_task_of_trio_that_calls_the_client_is_named() -> None:
    """It moved beside the holder of the turn: no nursery of its own reaches the World."""

    async def child(client: Client) -> None:
        await client.get(Note, "n")

    async def main(client: Client) -> None:
        async with trio.open_nursery() as tasks:
            tasks.start_soon(child, client)
            await client.sleep(5)
            await client.sleep(5)

    async def other(client: Client) -> None:
        for _ in range(20):
            await client.sleep(1)

    with pytest.raises(HarnessBug, match=r"trio task '.*child' moved without holding the turn"):
        world_of(alpha=main, beta=other).run(Calm())


@both_drivers
def test_nobody_but_its_tasks_uses_a_client(driver: str) -> None:
    """A callback from outside holds no turn; it gets the error itself, and so does the Run."""
    caught: list[BaseException] = []
    clients: list[Client] = []

    async def main(client: Client) -> None:
        clients.append(client)
        await client.sleep(1)

    class Meddles(Calm):
        def choose(self, options: Options | Alternatives) -> int:
            if clients:
                try:
                    clients[0].record("hello")
                except HarnessBug as error:
                    caught.append(error)
            return 0

    with pytest.raises(HarnessBug, match="moved without holding the turn") as raised:
        world_of(alpha=main).run(Meddles(), driver=driver)
    assert caught == [raised.value]


@both_drivers
def test_a_client_belongs_to_one_actor(driver: str) -> None:
    """Another task that got hold of it is refused, even if it catches all errors."""
    clients: dict[str, Client] = {}

    async def main(client: Client) -> None:
        clients[client.name] = client
        await client.sleep(1)
        try:
            await clients["alpha"].get(Note, "n")
        except Exception:  # noqa: BLE001
            client.record("caught")

    with pytest.raises(ScenarioError, match="beta/main uses the Client of alpha, life 1"):
        world_of(alpha=main, beta=main).run(Calm(), driver=driver)


@both_drivers
def test_a_client_belongs_to_one_life(driver: str) -> None:
    """One that was kept over a crash, in a global, is of no use to the next life."""
    clients: list[Client] = []

    async def main(client: Client) -> None:
        clients.append(client)
        await client.sleep(10)
        clients[0].record("still here")

    world = world_of(alpha=main)
    world.allow(Crash("alpha", restart_after_ms=1))
    with pytest.raises(ScenarioError, match="alpha/main uses the Client of alpha, life 1"):
        world.run(Struck(2, "crash alpha"), driver=driver)


# -- whose error it is --------------------------------------------------------------------------

ERRORS: list[Callable[[], BaseException]] = [
    lambda: ValueError("broken"),
    lambda: NotFound("broken"),
    lambda: ScenarioError("broken"),
    lambda: ExceptionGroup("broken", [ValueError()]),
    lambda: KeyboardInterrupt(),
    lambda: SystemExit(3),
    lambda: StopTest(7),
]
errors = each_row("make", ERRORS, ids=lambda make: type(make()).__name__)


class Watched:
    """A World with two actors that note all they see, and how they end."""

    def __init__(self) -> None:
        self.seen: list[BaseException] = []
        self.ended: list[str] = []
        self.world = world_of(alpha=self.main, beta=self.main)
        self.world.add(note())

    async def main(self, client: Client) -> None:
        """Reads, writes, picks, asks the other Endpoint, and catches all errors."""
        try:
            while True:
                try:
                    client.pick("node", ["n1", "n2"])
                    await client.update(note("n", by=client.name))
                    if "other" in self.world.wire.posts:
                        await client.ask(Operation("do", endpoint="other"))
                    await client.sleep(1)
                except Exception as error:  # noqa: BLE001
                    self.seen.append(error)
        finally:
            self.ended.append(client.name)

    def ends_by(self, error: BaseException, chooser: Chooser, driver: str) -> None:
        """The Run ends by that very error, bare; no actor has seen it, all are torn down."""
        self.world.limit(turns_max=50)
        with pytest.raises(type(error)) as caught:
            self.world.run(chooser, driver=driver)
        assert caught.value is error
        assert not self.seen
        assert sorted(self.ended) == sorted(self.world.table.roles)[: len(self.ended)]
        assert not any(role.is_up for role in self.world.table.roles.values())
        lives = [role.life for role in self.world.table.roles.values() if role.life is not None]
        assert not any(life.seats for life in lives)
        assert len(self.ended) == len(lives)


@both_drivers
@errors
@each_row("after", [0, 1, 2, 9])
def test_an_error_of_the_chooser_leaves_bare(
    driver: str, make: Callable[[], BaseException], after: int
) -> None:
    """At the first turn, in a pick, on the stack of a task that has just given up its turn."""
    error = make()
    Watched().ends_by(error, Raises(after, error), driver)


@both_drivers
@errors
def test_an_error_of_a_chooser_that_listens_leaves_bare(
    driver: str, make: Callable[[], BaseException]
) -> None:
    """Raised by `ended`, of a turn or of a pick."""
    for kind in ("serve", PICK):
        error = make()

        class Listener(Calm):
            def ended(self, step: Step, kind: str = kind, error: BaseException = error) -> None:
                if step.kind == kind:
                    raise error

        Watched().ends_by(error, Listener(), driver)


class Claim(Invariant):
    """An Invariant that raises when it looks at this occasion."""

    name = "claim"

    def __init__(self, error: BaseException, *, at: str = "") -> None:
        self.error = error
        self.looks_at = frozenset({at})  # type: ignore[misc]

    def look(self, step: Step | None, evidence: Evidence) -> str | None:
        raise self.error

    def end(self, evidence: Evidence) -> str | None:
        raise self.error


@both_drivers
@errors
@each_row("at", [TURN, COMMIT])
def test_an_error_of_an_invariant_leaves_bare(
    driver: str, make: Callable[[], BaseException], at: str
) -> None:
    """Raised after a turn, when a task has already been given its answer or not."""
    watched, error = Watched(), make()
    watched.world.claim(Claim(error, at=at))
    watched.ends_by(error, Calm(), driver)


@both_drivers
@errors
def test_an_error_of_an_invariants_last_word_leaves_bare(
    driver: str, make: Callable[[], BaseException]
) -> None:
    """At quiescence, while an actor still rests on an idle inbox."""
    ended: list[str] = []

    async def rests(client: Client) -> None:
        try:
            await client.queue(idle=True).get()
        finally:
            ended.append(client.name)

    error = make()
    world = world_of(alpha=rests)
    world.claim(Claim(error))
    with pytest.raises(type(error)) as caught:
        world.run(Calm(), driver=driver)
    assert caught.value is error
    assert ended == ["alpha"]


class Broken(Endpoint):
    """An Endpoint that raises in its first part, or in its second."""

    def __init__(self, error: BaseException, part: int, *, near: bool) -> None:
        self.name = "other"
        self.near = near
        self.is_front = False
        self.on_behind: Callable[[Cursor], None] | None = None
        self.error = error
        self.part = part

    def handle(self, operation: Operation, caller: str, now_ms: int) -> Handler:
        if self.part == 2:
            yield BETWEEN
        raise self.error

    def may(self, operation: Operation, caller: str = "") -> Footprint:
        return NOTHING

    def begin(self) -> None:
        """It reads nothing."""

    def restart(self) -> None:
        """It has no memory."""


@both_drivers
@each_row("make", [m for m in ERRORS if not isinstance(m(), NotFound)])
@each_row("part", [1, 2])
def test_an_error_of_an_endpoint_leaves_bare(
    driver: str, make: Callable[[], BaseException], part: int
) -> None:
    """What is no ApiError is no answer: it is the Endpoint that is broken, not its caller."""
    watched, error = Watched(), make()
    watched.world.serve(lambda store: Broken(error, part, near=False))
    watched.ends_by(error, Calm(), driver)


@both_drivers
@each_row("make", [m for m in ERRORS if not isinstance(m(), NotFound)])
def test_an_error_of_a_near_endpoint_leaves_bare(
    driver: str, make: Callable[[], BaseException]
) -> None:
    """Also if it was raised on the stack of the actor that asked."""
    watched, error = Watched(), make()
    watched.world.serve(lambda store: Broken(error, 1, near=True))
    watched.ends_by(error, Calm(), driver)


@both_drivers
def test_an_answer_that_refuses_is_for_the_actor(driver: str) -> None:
    """An ApiError of an Endpoint, near or not, is what its caller must survive."""
    for near in (True, False):
        error = NotFound("broken")
        watched = Watched()
        watched.world.serve(lambda store, e=error, n=near: Broken(e, 1, near=n))  # type: ignore[misc]
        watched.world.limit(turns_max=20, instant_turns_max=20)
        assert watched.world.run(Calm(), driver=driver).outcome == "undecided"
        assert {repr(seen) for seen in watched.seen} == {repr(error)}


@both_drivers
@each_row("error", [KeyboardInterrupt(), SystemExit(3), StopTest(7)])
def test_what_a_person_or_the_shell_asks_for_leaves_bare_from_an_actor(
    driver: str, error: BaseException
) -> None:
    """It is not the actor's death, and no ExceptionGroup hides it."""
    ended: list[str] = []

    async def main(client: Client) -> None:
        await client.sleep(1)
        raise error

    async def other(client: Client) -> None:
        try:
            await client.sleep(5)
        finally:
            ended.append("other")

    world = world_of(alpha=main, beta=other)
    with pytest.raises(type(error)) as caught:
        world.run(Calm(), driver=driver)
    assert caught.value is error
    assert ended == ["other"]
    assert not world.table.deaths


@both_drivers
def test_an_error_for_people_cannot_be_caught_by_an_actor(driver: str) -> None:
    """An Endpoint that is not there is the scenario's mistake, not a refusal to be retried."""

    async def main(client: Client) -> None:
        while True:
            try:
                await client.ask(Operation("get", endpoint="nowhere"))
            except Exception:  # noqa: BLE001
                await client.sleep(1)

    with pytest.raises(ScenarioError, match="nothing answers to 'nowhere'"):
        world_of(alpha=main).run(Calm(), driver=driver)


@both_drivers
def test_the_first_exception_of_an_actor_ends_its_life_and_is_recorded(driver: str) -> None:
    """With its task, what it said and where; what its siblings raise while they die is not."""

    async def main(client: Client) -> None:
        async def breaks() -> None:
            await client.sleep(1)
            raise ValueError("broken")

        async def waits() -> None:
            try:
                await client.sleep(5)
            finally:
                raise RuntimeError("also broken")

        client.spawn("breaks", breaks)
        client.spawn("waits", waits)
        await client.signal().wait()

    world = world_of(alpha=main)
    verdict = world.run(Calm(), driver=driver)
    (death,) = world.table.deaths
    assert (death.actor, death.path, death.error) == (
        "alpha", "alpha/breaks", "ValueError: broken",
    )  # fmt: skip
    assert death.place.startswith("test_table.py:")
    assert death.place.endswith(" in breaks")
    assert [str(v) for v in verdict.violations] == [
        f"no_actor_dies: alpha/breaks died of ValueError: broken at {death.place} (step 4, 1 ms)"
    ]
    assert (verdict.end, verdict.virtual_ms) == ("violated", 1)


@both_drivers
def test_the_place_of_a_death_is_in_the_actors_own_code(driver: str) -> None:
    """Also if it was raised within the testbed, which the actor has called wrongly."""

    async def main(client: Client) -> None:
        client.record("x", 3)  # type: ignore[arg-type]

    world = world_of(alpha=main)
    assert world.run(Calm(), driver=driver).is_violated
    (death,) = world.table.deaths
    assert death.error.startswith("TypeError")
    assert death.place.startswith("test_table.py:")
    assert death.place.endswith(" in main")


@both_drivers
def test_an_option_of_a_wait_that_is_over_is_never_performed(driver: str) -> None:
    """If one was left in the line by mistake, it is our bug, and found before it does harm."""

    async def main(client: Client) -> None:
        for _ in range(3):
            await client.sleep(1)

    class Meddles(Calm):
        def choose(self, options: Options | Alternatives) -> int:
            if options[0].kind == "wake":
                options[0].seat.number += 1
            return 0

    with pytest.raises(HarnessBug, match=r"wake alpha/main sleep .* for a wait that is over"):
        world_of(alpha=main).run(Meddles(), driver=driver)


@both_drivers
def test_a_death_of_one_actor_is_not_the_others(driver: str) -> None:
    """Where the Run goes on after a Violation, so do they."""
    said: list[object] = []

    async def breaks(client: Client) -> None:
        raise ValueError

    async def goes_on(client: Client) -> None:
        await client.sleep(5)
        said.append(client.now())

    world = world_of(alpha=breaks, beta=goes_on)
    world.goes_on = True
    assert world.run(Calm(), driver=driver).outcome == "violated"
    assert said == [5]


# -- what may be used within a task -------------------------------------------------------------


@both_drivers
def test_an_async_generator_that_is_dropped_ends_where_it_is_dropped(driver: str) -> None:
    """Its `finally` runs in the turn of its task, not in one of trio's."""
    said: list[str] = []

    async def main(client: Client) -> None:
        inbox = client.queue("inbox")

        async def items() -> Any:
            try:
                while True:
                    yield await inbox.get()
            finally:
                said.append(f"closed in step {world.table.step}")
                inbox.put("last")

        async def reads() -> None:
            async for item in items():
                said.append(item)
                break
            said.append(f"left in step {world.table.step}")

        inbox.put("first")
        await client.join(client.spawn("reads", reads))
        said.append(await inbox.get())

    world = world_of(alpha=main)
    world.start(Puppet("beta", lambda client: _sleeps(client)))
    assert world.run(Calm(), driver=driver).is_held
    assert said == ["first", "closed in step 3", "left in step 3", "last"]


def _sleeps(client: Client) -> Coroutine[Any, Any, None]:
    async def main() -> None:
        await client.sleep(1)

    return main()


@both_drivers
def test_a_context_variable_is_inherited_and_stays_in_its_actor(driver: str) -> None:
    """A task finds what its spawner had set; no other actor, and no next life, finds it."""
    from contextvars import ContextVar

    variable = ContextVar("variable", default="unset")
    seen: list[tuple[str, str]] = []

    def doing(set_to: str) -> Doing:
        async def main(client: Client) -> None:
            seen.append((client.name, variable.get()))
            variable.set(set_to)

            async def task() -> None:
                seen.append((f"{client.name}/task", variable.get()))
                variable.set("theirs")

            await client.sleep(1)
            await client.join(client.spawn("task", task))
            seen.append((f"{client.name} again", variable.get()))

        return main

    world = world_of(alpha=doing("a"), beta=doing("b"))
    world.allow(Crash("alpha", restart_after_ms=0))
    assert world.run(Struck(3, "crash alpha"), driver=driver).faults == 1
    assert sorted(seen) == [
        ("alpha", "unset"), ("alpha", "unset"), ("alpha again", "a"), ("alpha/task", "a"),
        ("beta", "unset"), ("beta again", "b"), ("beta/task", "b"),
    ]  # fmt: skip
    assert variable.get() == "unset"


def test_crashed_is_not_an_exception() -> None:
    """`except Exception` lets it through."""
    assert not issubclass(Crashed, Exception)
    assert not issubclass(Cancelled, Exception)
