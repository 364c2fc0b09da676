"""A component whose parts can be replaced, and a scenario of one of it."""

from __future__ import annotations

from typing import ClassVar

import attrs

from testbed import Actor, Client, World, policy
from testbed.switches import Component


class Brush:
    """What a painter paints with."""

    name: ClassVar[str] = ""
    bristles: ClassVar[str] = "hog"


class Broad(Brush):
    """One that is built in."""

    name = "Broad"


class Fine(Brush):
    """Another one."""

    name = "Fine"


class Old(Brush):
    """One that is built in, and nobody takes unless he is told to."""

    name = "Old"


BRUSHES = (Broad(), Fine())
ALL = ("Broad", "Fine", "Old")


@attrs.frozen
class Switches:
    """What of a painter can be replaced."""

    brushes: str = policy.parts("brush", "a subclass of Brush", "bristles", *ALL)
    """What with."""
    first: str = policy.part("brush", "a subclass of Brush", "bristles", *ALL)
    """What it begins with."""
    painter: str = policy.part("painter", "an Actor", "run rank", takes="name")
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
    return policy.chosen(switches.brushes, BRUSHES, [Old()])


def painting(world: World, *, guard: bool = False) -> None:
    """One paints."""
    world.start(Painter("alpha", tint="blue"))
