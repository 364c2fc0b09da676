"""Load: made-up actors for the benchmarks."""

from __future__ import annotations

import attrs

from testbed.client.actor import Actor
from testbed.client.client import Client
from testbed.objects import Map, Note
from testbed.world.world import World

ACTORS = 10


@attrs.frozen
class NoteReader(Actor):
    """Reads one note, over and over."""

    times: int

    async def run(self, client: Client) -> None:
        for _ in range(self.times):
            await client.get(Note, "shared")


@attrs.frozen
class Writer(Actor):
    """Reads its own note and writes it back, over and over."""

    times: int

    async def run(self, client: Client) -> None:
        note = await client.get(Note, self.name)
        for number in range(self.times):
            note = await client.update(note.saying(n=str(number)))


def world(kind: type[NoteReader] | type[Writer], turns: int) -> World:
    """A World of ten actors of one kind, which takes about `turns` turns."""
    loaded = World()
    loaded.limit(turns_max=2 * turns + 1000, instant_turns_max=2 * turns + 1000)
    names = [f"actor-{number}" for number in range(ACTORS)]
    loaded.add(Note("shared"), *(Note(name, data=Map(n="")) for name in names))
    for name in names:
        loaded.start(kind(name, turns // ACTORS // 2))
    return loaded
