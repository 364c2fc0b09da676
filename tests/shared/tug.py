"""A tug of war: two controllers, each of which keeps putting one field as it wants it."""

from __future__ import annotations

import attrs

from testbed.client.actor import Actor
from testbed.client.cache import Cache
from testbed.client.client import Client
from testbed.errors import ApiError
from testbed.invariant import Evidence, quiescent
from testbed.objects import Map, Note
from testbed.world.world import World

PULLS = 4


@attrs.frozen
class Puller(Actor):
    """Whenever the rope is not where it wants it, it pulls; so often, and then it gives up."""

    wants: str

    async def run(self, client: Client) -> None:
        ropes, seen = Cache(client, Note), client.queue("seen", idle=True)
        ropes.on(add=seen.put, update=lambda _, new: seen.put(new))
        for _ in range(PULLS):
            rope = await seen.get()
            while rope.data["at"] == self.wants:
                rope = await seen.get()
            try:
                await client.update(rope.saying(at=self.wants))
            except ApiError:
                continue


def the_rope_rests(see: Evidence) -> str | None:
    """Somebody has had its way before both were tired of it."""
    writes = len(list(see.store.log("notes").after(0)))
    return f"the rope was moved {writes - 1} times" if writes > PULLS + 1 else None


def tug_of_war(world: World) -> None:
    """Nothing is stale, nothing is lost, and nothing comes to rest."""
    world.add(Note("rope", data=Map(at="nowhere")))
    world.start(Puller("left", "left"), Puller("right", "right"))
    world.claim(quiescent(the_rope_rests))
