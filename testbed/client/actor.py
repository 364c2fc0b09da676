"""Actor: a named program. It holds a Client and nothing else of the World."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Mapping
from typing import ClassVar

import attrs

from testbed.client.client import Client
from testbed.code.takes import wrong_count
from testbed.errors import ScenarioError, shown
from testbed.switches import Component


@attrs.frozen
class Actor:
    """Frozen settings and a `run`. All that changes lives inside `run`, and dies with it.

    The World calls `run` once for each life, in the first turn of that life. So a restart always
    begins with empty memory, and to assemble a World a thousand times has no effect.
    """

    name: str
    """Unique in its World; the first word of every sentence about it."""

    rank: ClassVar[int] = 0
    """Orders the timers of one instant: users 0, node runtime 1, kubelet 2, controller 3,
    scheduler 4, autoscaler 5, cloud 6. The testbed only compares it."""
    shares_memory: ClassVar[bool] = True
    """False declares that its tasks share only Caches, queues and signals. A search may then treat
    turns of two tasks as independent if these are."""
    component: ClassVar[Component | None] = None
    """Declares its switches, if it has any; `client.switches` has their values."""

    @property
    def told(self) -> Mapping[str, str]:
        """The switches, `profile` among them, that its constructor was given; what the user of the
        World gives overrides them."""
        return {}

    async def run(self, client: Client) -> None:
        """What the program does. Its life ends with its last task, or by an exception."""
        raise NotImplementedError(f"{type(self).__name__} has no `run`")


def factory_of(given: Actor | Callable[[], Actor]) -> Callable[[], Actor]:
    """What makes the actor for each life: frozen settings return themselves, a factory is called.
    Settings that can change are refused."""
    if not isinstance(given, Actor):
        return _factory(given)
    try:
        hash(given)
        frozen = _is_frozen(given)
    except TypeError:
        frozen = False
    if not frozen:
        raise ScenarioError(
            f"{type(given).__name__} {given.name!r} can change, so it would keep its memory across "
            "a restart.\nDecorate it with @attrs.frozen and hold no list or dict in its fields, or "
            f"start a factory: world.start(lambda: {type(given).__name__}({given.name!r}))"
        )
    return lambda: given


def _factory(given: object) -> Callable[[], Actor]:
    """The same, if it is a factory."""
    if not isinstance(given, type) and callable(getattr(given, "run", None)):
        kind = type(given).__name__
        raise ScenarioError(
            f"world.start was given a {kind}, which is no Actor: expected one, or a factory.\n"
            f"Next: derive it: `@attrs.frozen`, `class {kind}(Actor):`, its fields, no `__init__`."
        )
    if not callable(given) or _needs_more(given):
        raise ScenarioError(
            f"world.start was given {shown(given)}: expected an actor, or a factory of one.\n"
            'Next: world.start(Writer("alpha")), or world.start(lambda: Writer("alpha")).'
        )
    return given


def made_by(factory: Callable[[], Actor]) -> Actor:
    """The actor that a factory makes; an error if it makes something else."""
    made: object = factory()
    if not isinstance(made, Actor):
        if isinstance(made, Coroutine):
            made.close()
            raise ScenarioError(
                "world.start was given an async function: expected an actor, or a factory of one.\n"
                "Next: write it as the `run` of an actor: `async def run(self, client)`."
            )
        kind = type(made).__name__
        raise ScenarioError(
            f"world.start was given a factory that makes a {kind}: expected an actor.\n"
            f"Next: derive its class from Actor: class {kind}(Actor)."
        )
    if wrong := _wrong_with(made):
        raise ScenarioError(
            f"world.start was given {type(made).__name__}, which {wrong}.\n"
            "Next: write `async def run(self, client: Client) -> None:` in its class."
        )
    return made


def _wrong_with(actor: Actor) -> str:
    """Why none of its lives can begin; empty if they can."""
    if type(actor).run is Actor.run:
        return "has no `run`"
    run: object = actor.run
    if not callable(run):
        return f"has a `run` that is {shown(run)}"
    wrong = wrong_count(run, 1)
    return f"has a `run` that cannot be called with a Client: {wrong}" if wrong else ""


def _is_frozen(actor: Actor) -> bool:
    try:
        actor.name = actor.name  # type: ignore[misc]
    except attrs.exceptions.FrozenInstanceError:
        return True
    return False


def _needs_more(given: Callable[..., object]) -> bool:
    """Whether it is a class or a function that cannot make an actor without arguments."""
    if hasattr(given, "__code__"):
        return bool(wrong_count(given, 0))
    try:
        return isinstance(given, type) and not given()
    except TypeError:
        return True
