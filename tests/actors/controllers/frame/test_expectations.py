"""Expectations: what a controller has done and not heard of keeps it from doing more."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, ClassVar

import attrs
import pytest

from actors.controllers.frame.expectations import EXPIRY_MS, Expectations
from actors.controllers.switches import CONTROLLERS
from testbed import Actor, Client, World
from testbed.objects import Map
from testbed.switches import Component, told
from tests.shared.stage import play

Do = Callable[[Client, Expectations, list[Any]], Awaitable[None]]


@attrs.frozen
class Expecting(Actor):
    """Does what a function says with Expectations of its own."""

    component: ClassVar[Component] = CONTROLLERS
    do: Do
    seen: Any
    is_on: bool = True

    @property
    def told(self) -> Any:
        return told("", Map(expectations="on" if self.is_on else "off"))

    async def run(self, client: Client) -> None:
        def expired(key: str) -> None:
            self.seen.append((client.now(), key))

        await self.do(client, Expectations(client, expired), self.seen)


class Seen(list[Any]):
    """A list that a frozen actor may hold."""

    __hash__ = object.__hash__  # type: ignore[assignment]


def played(do: Do, *, is_on: bool = True) -> list[Any]:
    """What was written down."""
    seen, world = Seen(), World("test")
    world.start(Expecting("alpha", do, seen, is_on))
    play(world)
    return list(seen)


@pytest.mark.spec("CTL-2")
def test_nothing_is_expected_for_more_than_five_minutes() -> None:
    """Then its owner is synced again. What is met has no timer: the World comes to rest."""

    async def do(client: Client, expected: Expectations, seen: list[Any]) -> None:
        expected.expect("a", creates=1)
        await client.sleep(1000)
        expected.expect("b", creates=1)
        expected.expect("c", creates=1)
        expected.forget("c")
        seen.append(expected.digest(client.now()))
        await client.sleep(EXPIRY_MS - 500)
        seen.append((expected.are_met("a"), expected.are_met("b")))

    none: frozenset[str] = frozenset()
    due = [("a", EXPIRY_MS - 1000, 1, none), ("b", EXPIRY_MS, 1, none)]
    late = [(EXPIRY_MS, "a"), (True, False), (EXPIRY_MS + 1000, "b")]
    assert played(do) == [due, *late]
