"""A scenario that goes in a circle until it reaches a limit, and one that a lost answer ends."""

from __future__ import annotations

from typing import Any

from testbed.objects import Note
from testbed.world.world import World
from tests.shared.stage import Puppet


def in_a_circle(world: World) -> None:
    """Ends only at a limit."""

    async def again(client: Any) -> None:
        while True:
            await client.list(Note)

    world.start(Puppet("alpha", again))
    world.limit(turns_max=10)


def a_reader(world: World) -> None:
    """Dies if its list is not answered."""

    async def once(client: Any) -> None:
        await client.list(Note)

    world.start(Puppet("alpha", once))
