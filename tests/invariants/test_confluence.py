"""confluent: different orders, different ends, without a claim of the scenario's own."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from stage import Puppet, note

from testbed import Client, World, confluent
from testbed.choosers.bounded import Bounded
from testbed.choosers.calm import Calm
from testbed.choosers.uniform import Uniform
from testbed.faults.crash import Crash
from testbed.invariants.confluence import Confluent
from testbed.objects import Note
from testbed.races.playing import play, race_of
from testbed.races.shrink import shrink
from testbed.story.parting import side_by_side
from testbed.turns.trace import Trace
from testbed.world.scenario import Scenario, find, of, play_runs


def judged(name: str, claim: Callable[[], Confluent]) -> Scenario:
    """A scenario of the testbed, judged by nothing but whether it is confluent."""
    recipe = find(name)

    def build(world: World, *, guard: bool = False) -> None:
        recipe.build(world, guard=guard)
        own = [c for c in world.judge.claims if c.startswith(("every_", "no_node"))]
        world.judge._invariants[:] = [i for i in world.judge._invariants if i.name not in own]
        for lookers in world.judge._lookers.values():
            lookers[:] = [i for i in lookers if i.name not in own]
        world.claim(claim())

    return of(build)


def violated(recipe: Scenario, runs: int, **switches: Any) -> list[str]:
    """What was said of each violated Run, of the bounded levels and then of random ones."""
    found: list[str] = []

    def look(world: World) -> bool:
        assert world.verdict is not None
        found.extend(v.said for v in world.verdict.violations if v.invariant == "confluent")
        return True

    for chooser in (Bounded(deviations_max=1), Uniform(1)):
        play_runs(recipe, chooser, look, runs_max=runs, switches=switches, driver="direct")
    return found


UNORDERED = judged("lost_update", lambda: confluent(unordered=("data.signed",)))
WHERE = judged(
    "double_bind",
    lambda: confluent(
        seen_as=lambda see: sorted(
            entry.value.spec.node_name  # type: ignore[attr-defined]
            for entry in see.store.snapshot("pods/")
        )
    ),
)


def test_it_finds_the_lost_update_without_a_claim() -> None:
    """The list ends with one name where the calm run has two; who signed first does not matter."""
    found = violated(UNORDERED, 30)
    assert found
    assert set(found) <= {
        "the calm run ends otherwise: notes/default/list data.signed is 'alpha beta' there, "
        f"{name!r} here"
        for name in ("alpha", "beta")
    }


@pytest.mark.parametrize("recipe", [UNORDERED, WHERE])
def test_it_stays_green_with_the_guard(recipe: Scenario) -> None:
    """Whatever the order, the end is the same, but for what was declared."""
    assert not violated(recipe, 100, guard=True)


def test_what_is_alike_is_the_scenarios_to_say() -> None:
    """Without its guard double_bind ends with two pods on the node; which of them does not
    matter. Compared field by field, who comes first is a difference, too."""
    assert set(violated(WHERE, 100)) == {
        "the calm run ends otherwise: ['', 'n1'] there, ['n1', 'n1'] here"
    }
    by_field = set(violated(judged("double_bind", confluent), 100))
    assert any("pods/default/c spec.node_name is 'n1' there, '' here" in said for said in by_field)
    ignoring = judged("double_bind", lambda: confluent(ignoring=("spec.node_name", "status")))
    assert not violated(ignoring, 100)


def test_a_run_that_a_fault_struck_is_not_compared() -> None:
    """It was given something else to do."""

    def build(world: World) -> None:
        async def alpha(client: Client) -> None:
            await client.create(note())

        world.start(Puppet("alpha", alpha))
        world.allow(Crash())
        world.claim(confluent())

    assert not violated(of(build), 60)


def test_what_is_only_in_one_of_them_is_told() -> None:
    """An object that one order never makes."""

    def build(world: World) -> None:
        async def alpha(client: Client) -> None:
            await client.create(note("a"))

        async def beta(client: Client) -> None:
            if not (await client.list(Note)).items:
                await client.create(note("b"))

        world.start(Puppet("alpha", alpha), Puppet("beta", beta))
        world.claim(confluent())

    assert set(violated(of(build), 60)) == {
        "the calm run ends otherwise: notes/default/b is only here"
    }


def test_the_two_runs_stand_side_by_side() -> None:
    """With a line where they part for good."""
    world = UNORDERED.world()
    traces = []
    for chooser in (Calm(), Uniform(0)):
        world = UNORDERED.world()
        world.run(chooser, driver="direct", trace=Trace({}, keep=True))
        traces.append(world.trace)
    calm, here = traces
    lines = side_by_side(calm, here).splitlines()
    assert lines[0].split() == ["the", "calm", "run", "this", "run"]
    (parting,) = [line for line in lines if "they part for good" in line]
    assert lines.index(parting) >= 2


def test_what_it_finds_shrinks_to_a_race() -> None:
    """As any other breach does."""
    for seed in range(20):
        world = UNORDERED.world()
        if world.run(Uniform(seed), driver="direct").is_violated:
            shrunk = shrink(race_of(UNORDERED, {}, world.trace.choices), UNORDERED)
            assert len(shrunk.race) == 1
            assert play(shrunk.race, UNORDERED).verdict.violations[0].invariant == "confluent"
            return
    raise AssertionError("no seed found it")


def test_a_world_made_by_hand_is_not_compared() -> None:
    """It knows no calm run of its own."""

    async def alpha(client: Client) -> None:
        await client.create(note())

    world = World("by hand")
    world.start(Puppet("alpha", alpha))
    world.claim(confluent())
    assert world.run(Calm()).is_held


def test_a_world_that_was_added_to_is_not_compared() -> None:
    """The calm run of its scenario is that of another World."""
    recipe = find("lost_update")

    def build(world: World) -> None:
        recipe.build(world, guard=True)
        world.claim(confluent())

    world = of(build).world()
    world.add(note("more"))
    assert world.run(Calm()).is_held
