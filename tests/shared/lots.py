"""A scenario with something of everything a trace can hold: picks, time, a watch, faults."""

from __future__ import annotations

import attrs

from testbed import Actor, Cache, Client, Evidence, World, always
from testbed.errors import AlreadyExists, ApiError
from testbed.faults.break_watch import BreakWatch
from testbed.faults.crash import Crash
from testbed.faults.lose_reply import LoseReply
from testbed.faults.partition import Partition
from testbed.objects import Map, Note

COLOURS = ("white", "black", "red")


@attrs.frozen
class Drawer(Actor):
    """Draws lots, writes each on a note of its own, and rests between."""

    times: int = 2
    hesitates: bool = False
    """Whether it picks a thing of which nothing follows before each lot."""

    async def run(self, client: Client) -> None:
        for number in range(self.times):
            if self.hesitates:
                client.pick("mood", ("calm", "glad"))
            colour = client.pick("lot", COLOURS)
            rest = client.pick("rest", (10, 20))
            try:
                await client.create(Note(f"{self.name}-{number}", data=Map(lot=colour)))
            except AlreadyExists:
                continue
            except ApiError as error:
                client.record("failed", reason=error.reason)
            client.record("drew", lot=colour, number=number)
            await client.sleep(rest, "rest")


@attrs.frozen
class Onlooker(Actor):
    """Counts the notes it hears of."""

    async def run(self, client: Client) -> None:
        cache = Cache(client, Note, reads=())

        def heard(_: Note) -> None:
            client.record("heard", count=len(cache.all()))

        cache.on(add=heard)
        await client.queue("idle", idle=True).get()


def red_is_drawn_once(see: Evidence) -> str | None:
    """At most one lot is red."""
    red = [record.path for record in see.records if record.facts.get("lot") == "red"]
    return f"{' and '.join(red)} drew red" if len(red) > 1 else None


def drawing_lots(world: World, *, faults: int = 0, hesitates: bool = False, times: int = 2) -> None:
    """Two actors draw lots under the eyes of a third, up to so many times with each fault."""
    world.start(Onlooker("onlooker"))
    for name in ("alpha", "beta"):
        world.start(Drawer(name, times, hesitates=hesitates))
    if faults:
        world.allow(
            Crash("[ab]*", times_max=faults, restart_after_ms=50),
            LoseReply(times_max=faults),
            BreakWatch(times_max=faults),
            Partition(times_max=faults, for_ms=30),
        )
    world.claim(always(red_is_drawn_once))
