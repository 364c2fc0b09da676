"""The claim on Caches: what an actor knows is, whole, what was there at one revision."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from testbed.choosers.calm import Calm
from testbed.choosers.uniform import Uniform
from testbed.client.cache import Cache
from testbed.client.client import Client
from testbed.faults.break_watch import BreakWatch
from testbed.faults.compact import Compact
from testbed.faults.crash import Crash
from testbed.faults.server_error import ServerError
from testbed.invariants.caches import CachesShowOneRevision
from testbed.objects import Note
from testbed.store.endpoint import Operation
from testbed.store.selector import Selector
from testbed.turns.found import UNEQUAL, About
from testbed.world.world import World
from tests.each_row import each_row
from tests.shared.stage import Puppet, note, play

Known = dict[str, Note]


def world_of(
    tamper: Callable[[Known, Note], None] | None = None, by: str = "", **settings: Any
) -> World:
    """A writer of three notes, and a reader whose Cache is tampered with at each delivery, or at
    those of what was written `by` that round."""

    async def write(client: Client) -> None:
        await client.sleep(1)
        for turn in "12":
            for name in "abc":
                await client.update(note(name, by=turn), whatever_it_was=True)
        await client.ask(Operation("txn", "notes", body=(note("b", by="3"), note("c", by="3"))))
        await client.delete(note("b"), whatever_it_was=True)

    async def read(client: Client) -> None:
        cache = Cache(client, Note, **settings)
        if tamper is not None:
            cache.on(
                update=lambda _, new: tamper(cache._held, new) if by in new.data["by"] else None
            )

    world = World("test")
    world.add(*(note(name, by="0") for name in "abc"))
    world.start(Puppet("reader", read), Puppet("writer", write))
    world.claim(CachesShowOneRevision())
    return world


def test_a_cache_that_will_ask_again_is_not_judged_yet() -> None:
    """Its retry comes after the time up to which the Run is judged; in time, it is waited for."""

    async def read(client: Client) -> None:
        Cache(client, Note)

    for until_ms, ended_ms in ((500, 0), (1000, 800)):
        world = World("test")
        world.add(note("a"))
        world.start(Puppet("reader", read))
        world.allow(ServerError("reader", code=503))
        world.limit(until_ms=until_ms)
        played = play(world, "fault * server_error *")
        assert played.verdict.virtual_ms == ended_ms


def said_of(world: World, seed: int | None = None) -> list[str]:
    """What the claim says."""
    verdict = world.run(Calm() if seed is None else Uniform(seed), driver="direct")
    return [v.said for v in verdict.violations if v.invariant == "caches_show_one_revision"]


def _undo(known: Known, new: Note) -> None:
    known[new.key] = new.saying(by="0")


def _lose(known: Known, new: Note) -> None:
    known.pop("notes/default/a", None)


def _make_up(known: Known, new: Note) -> None:
    known["notes/default/z"] = note("z")


def _drop(known: Known, new: Note) -> None:
    del known[new.key]


@pytest.mark.spec("INV-6")
@each_row("by", ["", "2"])
@each_row(
    ("tamper", "said"),
    [
        (_undo, "holds notes/default/a as it was"),
        (_lose, "lacks notes/default/a"),
        (_make_up, "still holds notes/default/z"),
        (_drop, "lacks notes/default/a"),
    ],
)
def test_what_never_was_is_found_in_a_cache(
    tamper: Callable[[Known, Note], None], said: str, by: str
) -> None:
    """An old object among new ones, one that is lost, one that is made up: at the delivery, be it
    the first, at which the whole is compared, or a later one."""
    world = world_of(tamper, by)
    (found,) = said_of(world)
    assert found.startswith(f"the cache of notes in reader {said}")
    (breach,) = world.judge.violations
    (key,) = (word for word in said.split() if "/" in word)
    assert breach.about == About(key, (), "reader")
    assert breach.reason == UNEQUAL


@pytest.mark.spec("INV-6")
@each_row(
    "settings",
    [
        {},
        {"reads": ("data.by",)},
        {"selector": Selector(fields=(("data.by", "1"),))},
        {"selector": Selector(name="b")},
    ],
)
def test_a_cache_as_it_should_be_is_left_alone(settings: dict[str, Any]) -> None:
    """Whatever it selects and declares, in the middle of a transaction, after a broken watch, a
    crash and a compaction."""
    for seed in range(40):
        world = world_of(**settings)
        world.allow(BreakWatch(times_max=2), Crash("reader", restart_after_ms=1), Compact())
        assert said_of(world, seed) == []
