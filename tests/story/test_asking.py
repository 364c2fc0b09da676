"""Asking: a belief is accused only if the actor would not have done that, had it known better."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import attrs
import pytest
from incidents import note
from stage import Puppet
from truths import cause_in

from testbed.client.cache import Cache
from testbed.client.client import Client
from testbed.invariant import Evidence, always
from testbed.objects import Note
from testbed.story.cause import CauseShape
from testbed.testing.seek import seek
from testbed.world.world import World


def picnic(*, minds: bool, by_cache: bool = False) -> Callable[[Client], Any]:
    """Look at the weather, and have a picnic; only one who minds it stays at home."""

    async def run(client: Client) -> None:
        if by_cache:
            notes = Cache(client, Note)
            await notes.synced()
            await client.sleep(1000, "pack")
            weather = notes.get("weather", "default")
        else:
            weather = await client.get(Note, "weather")
            await client.sleep(1000, "pack")
        assert weather is not None
        if weather.data["sky"] == "clear" or not minds:
            await client.create(note("picnic"))

    return run


async def rain(client: Client) -> None:
    """From now on it rains."""
    await client.sleep(1000, "gather")
    weather = await client.get(Note, "weather")
    await client.update(weather.saying(sky="rain"))


def no_picnic_in_the_rain(see: Evidence) -> str | None:
    """While it rains nothing is there but the weather."""
    notes: dict[str, Any] = {entry.key: entry.value for entry in see.store.snapshot("notes/")}
    is_wet = notes["notes/default/weather"].data["sky"] == "rain"
    if is_wet and "notes/default/picnic" in notes:
        return "notes/default/picnic is there, and notes/default/weather says rain"
    return None


@attrs.frozen
class Outing:
    """A scenario: amy has a picnic, and it begins to rain."""

    minds: bool
    by_cache: bool

    def __call__(self, world: World) -> None:
        """Assemble it."""
        world.add(note("weather", sky="clear"))
        world.start(Puppet("amy", picnic(minds=self.minds, by_cache=self.by_cache)))
        world.start(Puppet("sky", rain))

        def breaks(see: Evidence) -> str | None:
            # Rain upon a picnic is nobody's fault.
            made = any(change.key == "notes/default/picnic" for change in see.changes)
            return no_picnic_in_the_rain(see) if made else None

        world.claim(always(breaks))
        world.needs_no_race = "who does not mind the weather has a picnic in any"


def with_care(world: World) -> None:
    """It reads the weather, and goes by it."""
    Outing(minds=True, by_cache=False)(world)


def with_care_and_cache(world: World) -> None:
    """It goes by what its Cache shows."""
    Outing(minds=True, by_cache=True)(world)


def without_care(world: World) -> None:
    """It reads the weather, and does not go by it."""
    Outing(minds=False, by_cache=False)(world)


def without_care_and_cache(world: World) -> None:
    """It looks at its Cache, and does not go by that."""
    Outing(minds=False, by_cache=True)(world)


@pytest.mark.parametrize("build", [with_care, with_care_and_cache])
def test_who_would_have_stayed_at_home_acted_on_old_news(build: Callable[..., None]) -> None:
    """With the news known there is no picnic: so the belief was the cause."""
    shrunk = seek(build, runs=400).shrunk
    assert shrunk is not None
    cause = cause_in(shrunk.played.trace, shrunk.violation)
    assert (cause.shape, cause.actor) == (CauseShape.OLD_NEWS, "amy")
    assert 'data.sky of notes/default/weather was "clear"' in cause.text


@pytest.mark.parametrize("build", [without_care, without_care_and_cache])
def test_who_would_have_gone_anyway_is_not_accused_of_a_belief(build: Callable[..., None]) -> None:
    """With the news known there is a picnic all the same: it is said what was done, and no more."""
    shrunk = seek(build, runs=400).shrunk
    assert shrunk is not None
    cause = cause_in(shrunk.played.trace, shrunk.violation)
    assert cause.shape is CauseShape.UNKNOWN, cause.text
    assert cause.text.startswith("amy created notes/default/picnic")
