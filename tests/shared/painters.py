"""A component with switches of every kind, and a scenario of two of it: what these tests switch."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

import attrs

from testbed import Actor, Client, Evidence, World, quiescent
from testbed.objects import Note
from testbed.objects.meta import Map
from testbed.store.store_endpoint import StoreEndpoint
from testbed.switches import Component, on_off, one_of, told, whole


@attrs.frozen
class Switches:
    """How a painter paints."""

    color: str = one_of("red", "green", "blue")
    """What with."""
    coats: int = whole(1, least=1)
    """How often."""
    drying: str | int = one_of("air", least=5)
    """How it dries: by itself,
    or in so many seconds."""
    is_shiny: bool = on_off(False)


PAINTER = Component(
    "painter", Switches, {"old": {"color": "green", "is_shiny": "on"}, "k8s-1.26": {}}
)
OVEN = Component("oven", Switches)
NONE: Map[str] = Map()


@attrs.frozen
class Painter(Actor):
    """Writes down how it paints."""

    component: ClassVar[Component] = PAINTER
    profile: str = ""
    switches: Map[str] = NONE

    @property
    def told(self) -> Mapping[str, str]:
        return told(self.profile, self.switches)

    async def run(self, client: Client) -> None:
        how: Switches = client.switches
        await client.create(Note(self.name, data=Map(color=how.color, coats=str(how.coats))))


class Oven(StoreEndpoint):
    """An Endpoint with switches."""

    component = OVEN

    def __init__(self, store: object, name: str = "oven", **switches: str) -> None:
        super().__init__(store, name)  # type: ignore[arg-type]
        self.told = switches
        self.switches = OVEN.told(switches)


def all_is_red(see: Evidence) -> str | None:
    """No note says another color."""
    for entry in see.store.snapshot("notes/"):
        note: Note = entry.value  # type: ignore[assignment]
        if note.data["color"] != "red":
            return f"{note.meta.name} paints in {note.data['color']}"
    return None


def painting(world: World, *, guard: bool = False, helped: bool = False) -> None:
    """Alpha paints as usual, and beta as the scenario says; guarded, nobody else does."""
    world.start(Painter("alpha"))
    world.start(Painter("beta", profile="k8s-1.26", switches=Map(coats="2")))
    if helped:
        world.start(Painter("gamma", profile="old"))
    world.serve(Oven)
    world.claim(quiescent(all_is_red, reads=("log:notes.data",)))
