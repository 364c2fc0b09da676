"""Two scenarios in which much happens at once, or late."""

from __future__ import annotations

import attrs

from testbed.client.actor import Actor
from testbed.client.cache import Cache
from testbed.client.client import Client
from testbed.errors import ApiError, Unavailable
from testbed.objects.meta import Map
from testbed.objects.note import Note
from testbed.store.store_endpoint import StoreEndpoint
from testbed.world.scenario import of
from testbed.world.world import World


@attrs.frozen
class Busy(Actor):
    """Asks for something of every kind, again and again; says what went wrong."""

    async def run(self, client: Client) -> None:
        helper = client.spawn("helper", self._help, client)
        for number in (1, 2):
            await self._write(client, number)
            client.pick("mood", ("calm", "glad"))
            await client.sleep(500, "nap")
        await client.join(helper)
        client.record("over")

    async def _write(self, client: Client, number: int) -> None:
        try:
            note = await client.get(Note, "n")
            await client.update(note.saying(by=self.name, number=str(number)), whatever_it_was=True)
        except ApiError as error:
            client.record("failed", reason=error.reason, is_unclear=isinstance(error, Unavailable))

    async def _help(self, client: Client) -> None:
        await client.sleep(100, "pause")
        client.pick("mood", ("calm", "grim"))
        await self._write(client, 9)


@attrs.frozen
class Onlooker(Actor):
    """Hears of every change."""

    async def run(self, client: Client) -> None:
        cache = Cache(client, Note)

        def heard(_: Note, new: Note) -> None:
            client.record("heard", number=new.data.get("number", ""))

        cache.on(update=heard)
        await client.queue("idle", idle=True).get()


def busy(world: World, *, writers: int = 2) -> None:
    """Two writers and an onlooker."""
    world.add(Note("n", data=Map()))
    world.start(Onlooker("aide"))
    for name in ("alpha", "beta")[:writers]:
        world.start(Busy(name))


def late(world: World) -> None:
    """The same, at a server that reads the history late."""
    world.serve(lambda store: StoreEndpoint(store, lags=("notes",)))
    busy(world)


BUSY, LATE = of(busy), of(late)
