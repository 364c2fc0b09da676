"""A shrink takes tens of Runs: of every pair, all Runs counted, never more than 150."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import attrs
import pytest

from testbed import Client, Evidence, World, always, scenario
from testbed.errors import ScenarioError
from testbed.objects import Note
from testbed.races.leaving_out import LeavingOut
from testbed.races.playing import play, race_of
from testbed.races.race import Race
from testbed.races.racefile import parse
from testbed.races.reason import same_as
from testbed.races.shrink import breach_of, shrink
from testbed.races.trying import Limits, Trying
from testbed.races.window import windows
from testbed.world.chooser_kinds import chooser_of, seeded
from testbed.world.scenario import find, known, of
from tests.shared.stage import Puppet, note

RUNS_MAX = 150
TRIED_MAX = 40
LINES_MANY = 100
"""The shrink of a Race of more lines than that may be cut off."""
PAIRS = [each.name for each in known() if each.has_guard]


@pytest.fixture
def played(monkeypatch: pytest.MonkeyPatch) -> list[World]:
    """Every World that is played from now on."""
    worlds: list[World] = []
    prepare = World.prepare

    def counting(world: World, *given: Any, **named: Any) -> bool:
        worlds.append(world)
        return prepare(world, *given, **named)

    monkeypatch.setattr(World, "prepare", counting)
    return worlds


def violated(name: str, chooser: str, races: int) -> Iterator[Race]:
    """The races of the first violated Runs of that Chooser, so many, if they are met soon."""
    recipe = find(name)
    for seed in range(TRIED_MAX):
        world = recipe.world({"guard": "off"})
        if world.run(chooser_of(chooser, seed), driver="direct").is_violated:
            yield race_of(recipe, {"guard": "off"}, world.trace.choices)
            if (races := races - 1) == 0:
                return


def shrinks_in_tens(race: Race, worlds: list[World]) -> None:
    """Shrink it and measure its windows: few Runs, nothing cut off, and each line is needed."""
    recipe = find(race.scenario)
    worlds.clear()
    small = shrink(race, recipe)
    with suppress(ScenarioError):
        windows(small.race, recipe, small.violation)
    assert len(worlds) <= RUNS_MAX, small.race.text()
    assert not small.cut_off or len(race) > LINES_MANY
    assert len(small.race) <= len(race)
    is_same = same_as(small.violation, recipe.named(race.switches))
    for less in small.race.without_each() if not small.cut_off else ():
        assert not any(map(is_same, play(less, recipe).verdict.violations)), less.text()


QUICK = ("double_bind", "late_bind", "leader_overlap", "lost_update", "own_writes_unseen")


@pytest.mark.parametrize("name", QUICK)
def test_a_shrink_takes_tens_of_runs(name: str, played: list[World]) -> None:
    """Of what a sampler has met, with all that was late or failed beside the point."""
    for race in violated(name, "pct", 1):
        shrinks_in_tens(race, played)


@pytest.mark.long
@pytest.mark.parametrize("name", PAIRS)
def test_every_pair_shrinks_in_tens_of_runs(name: str, played: list[World]) -> None:
    """Whoever has met it."""
    if find(name).world().needs_no_race:
        pytest.skip("it needs no race")
    for chooser in seeded():
        for race in violated(name, chooser, 3):
            shrinks_in_tens(race, played)


def restless(world: World) -> None:
    """Alpha is late with what beta looks for. Without the note `calms`, gina never rests; `zoe`
    does nothing at all."""

    async def alpha(client: Client) -> None:
        await client.create(note("one"))

    async def beta(client: Client) -> None:
        if not any(seen.meta.name == "one" for seen in (await client.list(Note)).items):
            client.record("missed")

    async def gina(client: Client) -> None:
        while not any(seen.meta.name == "calms" for seen in (await client.list(Note)).items):
            await client.sleep(10 + client.now() % 2)

    async def zoe(client: Client) -> None:
        await client.sleep(1)

    def is_seen(see: Evidence) -> str | None:
        return "missed" if see.records else None

    world.add(note("calms"))
    world.start(
        *(
            Puppet(name, does)
            for name, does in (("alpha", alpha), ("beta", beta), ("gina", gina), ("zoe", zoe))
        )
    )
    world.claim(always(is_seen, reads=("records",)))


def test_a_run_that_goes_on_for_ever_is_ended_early_and_leaves_nothing_out(
    played: list[World],
) -> None:
    """The calm run without that note has a hundred thousand turns, and would be Undecided. It is
    ended after some hundred, the note stays all the same, and nothing is remembered of it."""
    hold = "  - hold: alpha create notes/default/one\n    until: beta list notes\n"
    race = parse(f"scenario: x\nholds:\n{hold}", "late")
    recipe = of(scenario(keep=("gina",))(restless))
    violation = breach_of(play(race, recipe).verdict)
    assert violation is not None
    trying = Trying(recipe, race.switches, violation, Limits())
    played.clear()
    small = LeavingOut(trying, race).race()
    assert "notes/default/calms" not in small.without
    assert "zoe" in small.without
    turns = [world.verdict.turns for world in played if world.verdict is not None]
    assert max(turns) < 400
    bare = Race(race.scenario, without=("notes/default/calms",))
    early = trying.verdict(bare, 50)
    assert early is not None
    assert (early.outcome, early.turns) == ("undecided", 50)
    later = trying.verdict(bare, 60)
    assert later is not None
    assert later.turns == 60


def spared(world: World) -> None:
    """Beta misses the note of alpha if it is late, or if there is no note `spares`."""

    async def alpha(client: Client) -> None:
        await client.create(note("one"))

    async def beta(client: Client) -> None:
        await client.sleep(1)
        names = {seen.meta.name for seen in (await client.list(Note)).items}
        if not {"one", "spares"} <= names:
            client.record("missed")

    def is_seen(see: Evidence) -> str | None:
        return "missed" if see.records else None

    world.add(note("spares"))
    world.start(Puppet("alpha", alpha), Puppet("beta", beta))
    world.claim(always(is_seen, reads=("records",)))


def test_what_a_smaller_world_breaches_is_not_the_smallest_race() -> None:
    """Without that note no line is needed; in the whole World one is, and that is what is told when
    a shrink is interrupted."""
    hold = "  - hold: alpha create notes/default/one\n    until: beta list notes\n"
    race, recipe = parse(f"scenario: x\nholds:\n{hold}", "late"), of(spared)
    first = play(race, recipe)
    violation = breach_of(first.verdict)
    assert violation is not None
    trying = Trying(recipe, race.switches, violation, Limits())
    trying.begin_with(race, first)
    smaller = attrs.evolve(race.having(()), without=("notes/default/spares",))
    assert trying.breaches(smaller)
    assert trying.smallest == race
