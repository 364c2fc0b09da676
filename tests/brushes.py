"""A component whose parts can be replaced, and a scenario of one of it."""

from __future__ import annotations

from typing import ClassVar

import attrs

from testbed import Actor, Client, World, policy
from testbed.switches import Component


class Brush:
    """What a painter paints with."""

    name: ClassVar[str] = ""


class Broad(Brush):
    """One that is built in."""

    name = "Broad"


class Fine(Brush):
    """Another one."""

    name = "Fine"


BRUSHES = (Broad(), Fine())


def is_brush(made: type) -> bool:
    """Whether it is."""
    return issubclass(made, Brush)


def is_actor(made: type) -> bool:
    """Whether it is a program."""
    return issubclass(made, Actor)


@attrs.frozen
class Switches:
    """What of a painter can be replaced."""

    brushes: str = policy.parts("brush", is_brush, "a subclass of Brush", "Broad", "Fine")
    """What with."""
    first: str = policy.part("brush", is_brush, "a subclass of Brush", "Broad", "Fine")
    """What it begins with."""
    painter: str = policy.part("painter", is_actor, "an Actor", takes=("name",))
    """Who paints."""


PAINTER = Component("painter", Switches, program="painter")


@attrs.frozen
class Painter(Actor):
    """Tells which brushes it has."""

    component: ClassVar[Component] = PAINTER
    tint: str = "red"

    async def run(self, client: Client) -> None:
        await client.sleep(1, "dip")
        client.record("paints", with_=[each.name for each in brushes_of(client.switches)])


def brushes_of(switches: Switches) -> tuple[Brush, ...]:
    """Those that the switch names."""
    return policy.chosen(switches.brushes, BRUSHES)


def painting(world: World, *, guard: bool = False) -> None:
    """One paints."""
    world.start(Painter("alpha", tint="blue"))
