"""Window: how late is late enough, and how late is too late."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from testbed import Client, Evidence, World, quiescent
from testbed.races.playing import play
from testbed.races.racefile import parse
from testbed.races.window import narrowest, windows
from testbed.world.scenario import find, of
from tests.shared.stage import Puppet, note


def readings(world: World) -> None:
    """Alpha writes now; beta reads after 20 ms and gamma after 50: one sees it, the other not."""

    async def alpha(client: Client) -> None:
        await client.update(note(x="new"))

    def reader(ms: int) -> object:
        async def read(client: Client) -> None:
            await client.sleep(ms)
            client.record("read", x=(await client.get(type(note()), "n")).data["x"])

        return read

    def they_agree(see: Evidence) -> str | None:
        seen = {str(record.facts["x"]) for record in see.records}
        return "they differ" if len(seen) > 1 else None

    world.add(note(x="old"))
    world.start(Puppet("alpha", alpha))
    world.start(Puppet("beta", reader(20)), Puppet("gamma", reader(50)))  # type: ignore[arg-type]
    world.claim(quiescent(they_agree))


LATE = """
scenario: x
holds:
  - hold: alpha update notes/default/n
    until: beta get notes/default/n
"""


def test_a_window_has_two_edges() -> None:
    """Later than the first reading, and no later than the second."""
    recipe = of(readings)
    race = parse(LATE, "a.race.yaml")
    (violation,) = play(race, recipe).verdict.violations
    (window,) = windows(race, recipe, violation)
    assert (window.least_ms, window.most_ms, window.width_ms) == (21, 50, 30)
    assert str(window) == "alpha update notes/default/n is late by 21 to 50 ms"
    assert narrowest([window]) is window


def test_a_window_may_stay_open() -> None:
    """However late the update is, it overwrites the other."""
    recipe = find("lost_update")
    race = parse(
        LATE.replace("scenario: x", "scenario: lost_update").replace("notes/default/n", "notes/*"),
        "a.race.yaml",
    )
    (violation,) = play(race, recipe).verdict.violations
    (window,) = windows(race, recipe, violation)
    assert (window.least_ms, window.most_ms, window.width_ms) == (1, None, None)
    assert str(window) == "alpha update notes/* is late by 1 ms or more"


def between(world: World) -> None:
    """Beta looks after 5 and after 6 ms: only an update between the two looks shows."""

    async def alpha(client: Client) -> None:
        await client.update(note(x="new"))

    async def beta(client: Client) -> None:
        looks = []
        for ms in (5, 1):
            await client.sleep(ms)
            looks.append((await client.get(type(note()), "n")).data["x"])
        client.record("looked", looks=looks)

    world.add(note(x="old"))
    world.start(Puppet("alpha", alpha), Puppet("beta", beta))
    world.claim(
        quiescent(
            lambda see: next(
                (f"{r.facts}" for r in see.records if r.facts["looks"] == ["old", "new"]), None
            )
        )
    )


def test_a_window_between_two_powers_of_two_is_found() -> None:
    """The length that the hold has in the race itself is tried first."""
    race = parse(LATE, "a.race.yaml")
    (violation,) = play(race, of(between)).verdict.violations
    (window,) = windows(race, of(between), violation)
    assert (window.least_ms, window.most_ms) == (6, 6)


def test_a_race_within_an_instant_has_none() -> None:
    """Both must read before either writes: a hold of any duration lets too much pass."""
    recipe = find("lost_update")
    race = parse(
        "scenario: lost_update\nholds:\n  - hold: alpha get notes/default/list\n"
        "    until: beta get notes/default/list\n",
        "a.race.yaml",
    )
    (violation,) = play(race, recipe).verdict.violations
    assert windows(race, recipe, violation) == []
    assert narrowest([]) is None


def parity(world: World, *, longest: int = 70) -> None:
    """Readers look after 20, 50, 60 and so many ms; an odd number that read the old is a breach."""

    async def alpha(client: Client) -> None:
        await client.update(note(x="new"))

    def reader(ms: int) -> Callable[[Client], Any]:
        async def read(client: Client) -> None:
            await client.sleep(ms)
            client.record("read", x=(await client.get(type(note()), "n")).data["x"])

        return read

    def even(see: Evidence) -> str | None:
        old = [record for record in see.records if record.facts["x"] == "old"]
        return "an odd number" if len(old) % 2 else None

    world.add(note(x="old"))
    world.start(Puppet("alpha", alpha))
    for number, ms in enumerate((20, 50, 60, longest), 1):
        world.start(Puppet(f"r{number}", reader(ms)))
    world.claim(quiescent(even))


@pytest.mark.parametrize(
    ("until", "longest", "found"),
    [("r3", 70, (61, 70)), ("r1", 70, (21, 50)), ("r3", 4_000_000, (61, None))],
)
def test_a_window_has_no_gap(until: str, longest: int, found: tuple[int, int | None]) -> None:
    """From 21 to 50 ms one reads the old, from 61 to 70 three do: between the two the claim holds.
    Bisection alone finds 21 to 70."""
    recipe = of(parity)
    text = LATE.replace("beta get", f"{until} get") + f"switches: {{longest: {longest}}}\n"
    race = parse(text, "a.race.yaml")
    (violation,) = play(race, recipe).verdict.violations
    (window,) = windows(race, recipe, violation)
    assert (window.least_ms, window.most_ms) == found
