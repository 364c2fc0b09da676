"""Fresh neighbours: the incidents of `fresh_incidents.py` once more, each a step further on.

What was mended for one of those must hold for these, too: it is a rule, and no answer by heart.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import Any

from actors.apiserver import ApiServer
from testbed import (
    ApiError,
    Cache,
    Client,
    Evidence,
    StoreEndpoint,
    World,
    always,
    no_lasso,
    quiescent,
)
from testbed.faults.crash import Crash
from testbed.objects import Note
from tests.models import planted
from tests.models.incidents import note, notes_of
from tests.models.worlds import fresh_incidents
from tests.shared.stage import Puppet

# -- behind two reporters -------------------------------------------------------------------------


def late_count(world: World) -> None:
    """TRUTH: counter wrote on the quota what it had counted before beta created its pod, so the
    server let alpha create one more."""
    planted.quota_and_count(world, guard=True)


# -- for ever -------------------------------------------------------------------------------------


def answers(mine: str, other: str, *, turns: bool) -> Callable[[Client], Any]:
    """Set a note to what the other one says, or to the opposite of it."""

    async def run(client: Client) -> None:
        notes, seen = Cache(client, Note), client.queue("seen", idle=True)
        notes.on(add=seen.put, update=lambda _, new: seen.put(new))
        while True:
            await seen.get()
            await client.sleep(1000)
            own, its = notes.get(mine, "default"), notes.get(other, "default")
            assert own is not None
            assert its is not None
            wants = {"yes": "no", "no": "yes"}[its.data["on"]] if turns else its.data["on"]
            if own.data["on"] != wants:
                with suppress(ApiError):
                    await client.update(own.saying(on=wants))

    return run


def two_objects(world: World) -> None:
    """TRUTH: ann sets x to the opposite of y, and ben sets y to what x is."""
    world.serve(StoreEndpoint)
    world.add(note("x", on="yes"), note("y", on="yes"))
    world.start(Puppet("ann", answers("x", "y", turns=True)))
    world.start(Puppet("ben", answers("y", "x", turns=False)))
    world.claim(no_lasso())
    world.needs_no_race = "each answers the other"


def one_rule(world: World) -> None:
    """TRUTH: ann sets x to the opposite of what it is, for ever."""
    world.serve(StoreEndpoint)
    world.add(note("x", on="yes"))
    world.start(Puppet("ann", answers("x", "x", turns=True)))
    world.claim(no_lasso())
    world.needs_no_race = "it answers itself"


async def stamp(client: Client) -> None:
    """Note on the web which replicas were seen last."""
    notes, seen = Cache(client, Note), client.queue("seen", idle=True)
    notes.on(update=lambda _, new: seen.put(new))
    while True:
        web = await seen.get()
        if web.data["stamp"] != web.data["replicas"]:
            with suppress(ApiError):
                await client.update(web.saying(stamp=web.data["replicas"]))


def third_writer(world: World) -> None:
    """TRUTH: as in two_fields; what stamper writes in between is fought over by none."""
    world.serve(StoreEndpoint)
    world.add(note("web", replicas="3", checked_at="", applied_at="", stamp=""))
    world.start(Puppet("autoscaler", fresh_incidents.keeps("5", "checked_at")))
    world.start(Puppet("gitops", fresh_incidents.keeps("2", "applied_at")))
    world.start(Puppet("stamper", stamp))
    world.claim(no_lasso())
    world.needs_no_race = "neither ever has its way"


# -- half done ------------------------------------------------------------------------------------


def volume_in_use(world: World, *more: Puppet) -> None:
    """A volume with a finalizer, its keeper, and ann who deletes it."""
    world.serve(ApiServer)
    item = note("volume", cleaned="", tag="").with_meta(finalizers=(fresh_incidents.KEEPER,))
    world.add(item)
    world.start(Puppet("keeper", fresh_incidents.keep_and_release))
    world.start(Puppet("ann", fresh_incidents.delete_volume), *more)
    world.claim(quiescent(fresh_incidents.what_is_deleted_goes))


async def tag(client: Client) -> None:
    """Write a tag on the volume, if it is there."""
    await client.sleep(1000)
    with suppress(ApiError):
        volume = await client.get(Note, "volume")
        await client.update(volume.saying(tag="a"))


def finalizer_conflict(world: World) -> None:
    """TRUTH: keeper's second update was refused, since toucher had written; it never tried again,
    and its finalizer is left."""
    volume_in_use(world, Puppet("toucher", tag))


def keeper_gone(world: World) -> None:
    """TRUTH: keeper crashed for good, and its finalizer is left."""
    volume_in_use(world)
    world.allow(Crash("keeper"))


# -- did it happen? -------------------------------------------------------------------------------


def one_note(see: Evidence) -> str | None:
    """There is one note at most."""
    names = list(notes_of(see))
    return f"{' and '.join(names)} are there" if len(names) > 1 else None


# -- latencies ------------------------------------------------------------------------------------


async def create_if_none(client: Client) -> None:
    """Create a note if there is none."""
    if not (await client.list(Note)).items:
        await client.create(note("mine"))


async def create_later(client: Client) -> None:
    """Create a note after a second."""
    await client.sleep(1000)
    await client.create(note("other"))


def slow_answer(world: World) -> None:
    """TRUTH: ann created its note by a list that ben had overtaken; the list took 20,000 ms."""
    world.serve(StoreEndpoint)
    world.start(Puppet("ann", create_if_none), Puppet("ben", create_later))
    world.latency("list notes", answer_ms=20_000)
    world.claim(always(one_note))
    world.needs_no_race = "the answer is too late in every Run"
