"""Gangs: two schedulers each need both places, take one, and give it back if the other is taken."""

from __future__ import annotations

import attrs

from testbed import Actor, Client, Conflict, Evidence, World, no_lasso, quiescent
from testbed.objects import Note

WAIT_MS, BACKOFF_MS, RUNS_MS = 1_000, 1_000, 5_000


@attrs.frozen
class Gang(Actor):
    """Places a gang of two, in this order, and gives back what it has if it cannot have all."""

    places: tuple[str, str]

    async def run(self, client: Client) -> None:
        """Until the gang has run."""
        decided = None
        while True:
            got: list[str] = []
            for place in self.places:
                decided = client.record("places", at=place, after=repr(decided))
                if not await self._taken(client, place):
                    await client.sleep(WAIT_MS, "wait for room")
                    if not await self._taken(client, place):
                        break
                got.append(place)
            if len(got) == len(self.places):
                await client.sleep(RUNS_MS, "runs")
            for place in got:
                await self._give_back(client, place)
            if len(got) == len(self.places):
                client.record("done")
                await client.create(Note(f"done-{self.name}"))
                return
            await client.sleep(BACKOFF_MS, "back off")

    async def _taken(self, client: Client, place: str) -> bool:
        """Whether that place is free, and now its own."""
        found = await client.get(Note, place)
        if found.data["gang"]:
            return False
        try:
            await client.update(found.saying(gang=self.name))
        except Conflict:
            return False
        return True

    async def _give_back(self, client: Client, place: str) -> None:
        found = await client.get(Note, place)
        await client.update(found.saying(gang=""))


def both_have_run(see: Evidence) -> str | None:
    """No gang waits for ever."""
    for gang in ("red", "blue"):
        if see.store.peek(f"notes/default/done-{gang}") is None:
            return f"{gang} has never run"
    return None


def gangs(world: World, *, guard: bool = False) -> None:
    """Each takes what the other needs, and both give back, for ever; guarded, in one order."""
    world.add(Note("east").saying(gang=""), Note("west").saying(gang=""))
    world.start(Gang("red", ("east", "west")))
    world.start(Gang("blue", ("east", "west") if guard else ("west", "east")))
    world.claim(no_lasso(), quiescent(both_have_run))
