"""Causes of claims that name no object: there are too many of a kind, or two writes do not fit."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from testbed.client.cache import Cache
from testbed.client.client import Client
from testbed.invariant import Evidence, always, quiescent
from testbed.objects import Note
from testbed.story.cause import Cause, CauseShape
from testbed.testing.seek import seek
from testbed.world.world import World
from tests.each_row import each_row
from tests.models.incidents import note
from tests.models.truths import can_be_repeated, cause_in
from tests.shared.stage import Puppet


def admit(*, by_cache: bool, minds: bool = True, times: int = 1) -> Callable[[Client], Any]:
    """Create a Note if there is none; one that does not mind counts, and creates it anyway."""

    async def run(client: Client) -> None:
        notes = Cache(client, Note)
        await notes.synced()
        for number in range(times):
            there = len(notes.all() if by_cache else (await client.list(Note)).items)
            if not minds or there < 1:
                await client.create(note(f"of-{client.name}-{number}"))

    return run


def not_too_many(most: int) -> Callable[[Evidence], str | None]:
    """At most so many Notes; it says how many there are, and not which."""

    def check(see: Evidence) -> str | None:
        there = len(see.store.snapshot("notes/"))
        return f"there are {there}, which is over {most}" if there > most else None

    return check


def two(world: World, *, by_cache: bool, minds: bool = True) -> None:
    """Two that count, and a quota that only one of them can meet."""
    does = admit(by_cache=by_cache, minds=minds)
    world.start(Puppet("ann", does), Puppet("ben", does))
    world.claim(quiescent(not_too_many(1)))
    world.needs_no_race = "who does not mind breaks it in any"


def by_cache(world: World) -> None:
    """Each counts what its Cache shows."""
    two(world, by_cache=True)


def by_list(world: World) -> None:
    """Each counts what it lists."""
    two(world, by_cache=False)


def without_care(world: World) -> None:
    """Each counts, and does not go by it."""
    two(world, by_cache=True, minds=False)


def alone(world: World) -> None:
    """One counts by its Cache before that shows what it has made itself."""
    world.start(Puppet("ann", admit(by_cache=True, times=2)))
    world.claim(quiescent(not_too_many(1)))
    world.needs_no_race = "its Cache is late in the calm run, too"


def alone_without_care(world: World) -> None:
    """The same, but that it does not go by what it counts."""
    world.start(Puppet("ann", admit(by_cache=True, minds=False, times=2)))
    world.claim(quiescent(not_too_many(1)))
    world.needs_no_race = "it breaks it in any"


def cause(build: Callable[..., None]) -> Cause:
    """The cause of the first race that is found."""
    shrunk = seek(build, runs=400).shrunk
    assert shrunk is not None
    return cause_in(shrunk.played.trace, shrunk.violation)


@each_row("build", [by_cache, by_list])
def test_who_counted_before_another_made_one_acted_on_old_news(build: Callable[..., None]) -> None:
    """Both ends are told, though the claim names neither."""
    found = cause(build)
    assert found.shape is CauseShape.OLD_NEWS, found.text
    assert found.since is not None
    assert {found.actor, found.since.actor} == {"ann", "ben"}
    assert f"believing that there was no {found.since.key}, as it listed at rv 1" in found.text
    can_be_repeated(found)


def test_who_counted_before_its_cache_showed_its_own_acted_on_old_news() -> None:
    """No other is needed to make too many."""
    found = cause(alone)
    assert found.shape is CauseShape.OLD_NEWS, found.text
    assert "not knowing of notes/default/of-ann-0, which it had itself created" in found.text
    can_be_repeated(found)


@each_row("build", [without_care, alone_without_care])
def test_who_does_not_go_by_the_count_is_not_accused_of_it(build: Callable[..., None]) -> None:
    """With the news known it makes one all the same."""
    found = cause(build)
    assert found.shape is CauseShape.UNKNOWN, found.text


def roll(version: str) -> Callable[[Client], Any]:
    """Set two fields, one after the other, whatever they are; then say so."""

    async def run(client: Client) -> None:
        for field in ("image", "flags"):
            found = await client.get(Note, "app")
            await client.update(found.saying(**{field: version}), whatever_it_was=True)
        client.record("rolled", version=version)

    return run


def mixture(world: World) -> None:
    """Two roll out at once; once both say that they have, both fields are to be of one."""
    world.add(note("app", image="v0", flags="v0"))
    world.start(Puppet("ann", roll("v1")), Puppet("ben", roll("v2")))

    def fits(see: Evidence) -> str | None:
        data = see.store.peek("notes/default/app").value.data  # type: ignore[union-attr]
        is_done = sum(record.name == "rolled" for record in see.records) == 2
        is_mixed = is_done and data["image"] != data["flags"]
        return f"image {data['image']} runs with flags {data['flags']}" if is_mixed else None

    world.claim(always(fits))


def test_who_wrote_between_two_writes_of_another_is_told_of_a_mixture() -> None:
    """And not whose record came last, which is when the claim looked."""
    found = cause(mixture)
    assert found.shape is CauseShape.HALF_DONE, found.text
    assert found.since is not None
    assert {found.actor, found.since.actor} == {"ann", "ben"}
    assert f"when {found.since.actor} was half done" in found.text
    assert "and set data.flags only at rv" in found.text
    can_be_repeated(found)
