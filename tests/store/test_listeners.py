"""Listeners: what they touch together, and that one that is gone leaves nothing behind."""

from __future__ import annotations

from contextlib import suppress

from testbed.client.client import Client
from testbed.errors import WatchBroken
from testbed.faults.break_watch import BreakWatch
from testbed.faults.crash import Crash
from testbed.objects import Map, Note
from testbed.store.change import Change
from testbed.store.footprint import NOTHING, Footprint
from testbed.store.listeners import Listeners
from testbed.world.world import World
from tests.each_row import each_row
from tests.shared.stage import Cued, Puppet, note

TAIL, OTHER = (Footprint(writes=frozenset({key})) for key in ("cursor:a/pods", "cursor:b/pods"))


def hears(change: Change) -> None:
    """Do nothing with it."""


def hears_too(change: Change) -> None:
    """The same, as another listener."""


def test_a_commit_touches_what_all_listeners_of_its_kind_touch() -> None:
    """Not what those of another kind do, and no longer what one does that was removed."""
    listeners = Listeners()
    listeners.add("pods", hears, touches=TAIL)
    listeners.add("pods", hears_too, touches=OTHER)
    assert listeners.touched("pods") == TAIL | OTHER
    assert listeners.touched("nodes") == NOTHING
    listeners.remove("pods", hears)
    assert listeners.touched("pods") == OTHER


def test_a_kind_whose_listeners_are_gone_costs_nothing() -> None:
    """As before the first: also if one was removed that was never there."""
    listeners = Listeners()
    listeners.add("pods", hears)
    listeners.remove("pods", hears_too)
    assert listeners._of
    listeners.remove("pods", hears)
    listeners.remove("nodes", hears)
    assert not listeners._of


@each_row("bookmarks", [True, False])
@each_row("reads_first", [True, False])
@each_row("ends", ["close", "again", "break_watch", "crash store", "crash reader"])
def test_a_watch_that_has_ended_listens_no_more(
    ends: str, reads_first: bool, bookmarks: bool
) -> None:
    """Whatever ended it, and whether its reader waits before that, after it, or both: no commit
    touches it any more."""

    async def reader(client: Client) -> None:
        since = (await client.list(Note)).revision
        stream = await client.watch(Note, since, options=Map(bookmarks=bookmarks))
        if reads_first:
            with suppress(WatchBroken):
                await stream.next()
        await client.sleep(5, "rest")
        if ends in ("close", "again"):
            stream.close()
        for _ in range(2 if ends == "again" else 1):
            with suppress(WatchBroken):
                await stream.next()
        await client.sleep(100, "rest")

    async def writer(client: Client) -> None:
        await client.sleep(1, "early")
        await client.create(note("early"))
        await client.sleep(10, "late")
        await client.create(note("late"))

    world = World()
    world.start(Puppet("reader", reader), Puppet("writer", writer))
    strikes = {
        "break_watch": BreakWatch(), "crash store": Crash("store", restart_after_ms=0),
        "crash reader": Crash("reader"),
    }  # fmt: skip
    cues = ("wake reader/main rest", "wake writer/main late")
    if ends in strikes:
        world.allow(strikes[ends])
        cues = ("answer * create notes/default/early*", "fault *")
    world.run(chooser := Cued(*cues), driver="direct")
    assert not chooser.cues
    assert len(world.store) == 2
    assert not world.wire.streams.open
    assert world.store.listeners.touched("notes") == NOTHING
