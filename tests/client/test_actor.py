"""The Actor: frozen settings, or a factory; nothing it learns in one life reaches the next."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial, wraps
from typing import Any

import attrs
import pytest

from testbed.client.actor import Actor, factory_of
from testbed.client.client import Client
from testbed.errors import ScenarioError
from testbed.faults.crash import Crash
from testbed.store.endpoint import Operation
from testbed.world.world import World
from tests.each_row import each_row
from tests.shared.stage import Apart, Puppet, note, play, world_of


@attrs.frozen
class Settings(Actor):
    """May stand for itself."""

    limit: int = 3
    names: tuple[str, ...] = ()

    async def run(self, client: Client) -> None:
        """Do nothing."""


@attrs.frozen
class Listed(Actor):
    """Holds what can change."""

    names: list[str] = attrs.field(factory=list)


class Open(Actor):
    """Is not frozen: it forgot the decorator, and has got a __dict__."""

    def __init__(self, name: str) -> None:
        self.__dict__["memory"] = []
        object.__setattr__(self, "name", name)

    def __setattr__(self, name: str, value: object) -> None:
        object.__setattr__(self, name, value)


@each_row(("given", "kind"), [(Listed("alpha"), "Listed"), (Open("alpha"), "Open")])
def test_what_can_change_is_refused(given: Actor, kind: str) -> None:
    """It would keep its memory across a restart; it is said how to mend that."""
    with pytest.raises(
        ScenarioError, match=f"^{kind} 'alpha' can change, so it would keep its mem"
    ):
        factory_of(given)
    with pytest.raises(ScenarioError, match=rf"world\.start\(lambda: {kind}\('alpha'\)\)$"):
        World().start(given)


def test_a_factory_makes_each_life_anew() -> None:
    """So what an instance remembers ends with its life."""
    made: list[list[int]] = []

    class Rememberer(Actor):
        """Keeps a memory in itself."""

        def __init__(self) -> None:
            object.__setattr__(self, "name", "alpha")
            self.memory: list[int]
            object.__setattr__(self, "memory", [])

        async def run(self, client: Client) -> None:
            made.append(self.memory)
            self.memory.append(len(made))
            await client.sleep(10)

    world = World()
    world.start(Rememberer)
    world.allow(Crash("alpha", restart_after_ms=5))
    play(world, "start *", "fault *")
    assert made == [[1], [2]]


@each_row("driver", ["trio", "direct"])
def test_an_actor_may_end_itself_and_be_begun_again(driver: str) -> None:
    """From any task: the others end with it, what it has sent stays sent, and it is no death. If it
    says so, another life begins so much later; else none does."""
    ends: list[str] = []

    async def alpha(client: Client) -> None:
        async def aside() -> None:
            client.tell(Operation("create", "notes", "n", "default", note()))
            client.exit(again_after_ms=5 if client.life == 1 else None)

        client.spawn("aside", aside)
        try:
            await client.sleep(1000)
        finally:
            ends.append(f"life {client.life}")

    world = world_of(alpha=alpha)
    played = play(world, late=("serve alpha/aside *",), driver=driver)
    assert ends == ["life 1", "life 2"]
    assert [step.now_ms for step in played.every("start alpha/main*")] == [0, 5]
    assert len(world.store) == 1
    assert not world.table.deaths


def test_the_tasks_of_an_actor_share_its_memory_unless_it_says_not() -> None:
    """Each of their turns writes it, so that no search takes two of them for independent."""

    async def two(client: Client) -> None:
        async def one() -> None:
            await client.sleep(1)

        client.spawn("one", one)
        await client.sleep(1)

    world = World()
    world.start(Puppet("shares", two), Apart("apart", two))
    played = play(world)
    for step in played.steps:
        assert ("mem:shares" in step.did.writes) == (step.option.actor == "shares")
        assert "mem:apart" not in step.did.writes


class Idle(Actor):
    """Has no `run` of its own."""


class Alone(Actor):
    """Has one that takes no Client."""

    async def run(self) -> None:  # type: ignore[override]
        """Do nothing."""


@each_row(
    ("kind", "wrong"),
    [
        (Idle, "Idle, which has no `run`"),
        (Alone, "Alone, which has a `run` that cannot be called with a Client: too many"),
    ],
)
def test_an_actor_without_a_run_that_can_be_played_is_refused(
    kind: type[Actor], wrong: str
) -> None:
    """Where it is started, whatever makes it."""
    for start in (kind("alpha"), partial(kind, "alpha")):
        with pytest.raises(ScenarioError, match=wrong) as refused:
            World().start(start)
        assert "\nNext: write `async def run(self, client: Client) -> None:`" in str(refused.value)


async def ran(client: Client) -> None:
    """Do nothing but say so."""
    client.record("ran")


class Callee:
    """Can be called, and cannot be hashed."""

    __hash__ = None  # type: ignore[assignment]

    async def __call__(self, client: Client) -> None:
        client.record("ran")


def with_more(fn: Callable[..., Any]) -> Callable[..., Any]:
    """Gives the function one argument more."""

    @wraps(fn)
    async def inner(self: Actor, client: Client) -> None:
        await fn(self, 3, client)

    return inner


@attrs.frozen
class OfClass(Actor):
    """Needs no instance."""

    @classmethod
    async def run(cls, client: Client) -> None:
        client.record("ran")


@attrs.frozen
class Static(Actor):
    """Nor its class."""

    @staticmethod
    async def run(client: Client) -> None:
        client.record("ran")


@attrs.frozen
class Given(Actor):
    """Is told what to run."""

    run: Any = ran


@attrs.frozen
class Called(Actor):
    """Has an instance in place of a method."""

    run = Callee()


@attrs.frozen
class Decorated(Actor):
    """Gets an argument from its decorator."""

    @with_more
    async def run(self, more: int, client: Client) -> None:
        client.record("ran")


@each_row("kind", [OfClass, Static, Given, Called, Decorated])
def test_every_run_that_takes_a_client_is_played(kind: type[Actor]) -> None:
    """However it is written."""
    world = World()
    world.start(kind("alpha"))
    (step,) = play(world).every("start *")
    assert [record.name for record in step.records] == ["ran"]


def test_a_run_that_cannot_be_called_is_refused() -> None:
    """Where it is started."""
    with pytest.raises(ScenarioError, match="which has a `run` that is 3"):
        World().start(Given("alpha", run=3))


def test_two_actors_cannot_have_one_name() -> None:
    """Nor can an actor be called as what answers it: every sentence begins with a name."""
    world = World()
    world.start(Settings("alpha"))
    for name in ("alpha", "store"):
        with pytest.raises(ScenarioError, match=f"two actors or Endpoints are called '{name}'"):
            world.start(Settings(name))


def test_a_factory_of_something_else_is_refused() -> None:
    """It is the scenario's mistake, and told as one."""
    with pytest.raises(ScenarioError, match=r"makes a object: expected an actor(?s:.*)\(Actor\)"):
        World().start(object)  # type: ignore[arg-type]
