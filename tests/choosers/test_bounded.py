"""Bounded: level by level, nothing twice, and nothing missed that a brute force finds."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import combinations
from typing import Any

import pytest

from testbed.choosers.bounded import Bounded
from testbed.choosers.deviations.deviating import Deviant, Deviating
from testbed.choosers.deviations.frontier import Frontier, Level
from testbed.client.client import Client
from testbed.objects.note import Note
from testbed.races.noting import Names
from testbed.races.pattern import Pattern
from testbed.races.playing import play, race_of
from testbed.races.race import Hold, Race
from testbed.turns.option import Choice
from testbed.world.scenario import Scenario, find, of, play_runs
from testbed.world.world import World
from tests.shared.lots import drawing_lots
from tests.shared.stage import Puppet, note

LOTS = of(drawing_lots)


KINDS = (("hold", (0, 1)), ("strike", (1, 0)))


def outcome(world: World) -> str:
    """What a Run has come to: the Verdict, what is in the Store, what was recorded."""
    assert world.verdict is not None
    violations = sorted(violation.invariant for violation in world.verdict.violations)
    objects = [f"{entry.key}={entry.value!r}" for entry in world.store.snapshot("")]
    records = sorted(f"{r.path} {r.name} {r.facts}" for r in world.table.records)
    return f"{violations} {[o.partition('revision')[0] for o in objects]} {records}"


def bounded(
    recipe: Scenario, chooser: Bounded, runs_max: int = 20_000, **switches: Any
) -> list[World]:
    """Every World it plays."""
    worlds: list[World] = []

    def look(world: World) -> bool:
        worlds.append(world)
        return True

    play_runs(recipe, chooser, look, runs_max=runs_max, switches=switches, driver="direct")
    return worlds


@pytest.mark.parametrize(
    ("name", "runs_max"), [("lost_update", 10), ("double_bind", 20), ("late_short_write", 100)]
)
def test_each_race_is_found_in_the_first_level(name: str, runs_max: int) -> None:
    """Within so many Runs; holds of what others notice come first."""
    found = [
        world.verdict
        for world in bounded(find(name), Bounded(), runs_max)
        if world.verdict is not None and world.verdict.is_violated
    ]
    assert found
    assert found[0].chooser == "bounded, 1 deviation"


@pytest.mark.parametrize("guard", [False, True])
def test_the_guard_holds_up_to_two_deviations(guard: bool) -> None:
    """Every Run of the level was played, and the search says so."""
    chooser = Bounded()
    worlds = bounded(find("lost_update"), chooser, guard=guard)
    violated = [w for w in worlds if w.verdict is not None and w.verdict.is_violated]
    assert bool(violated) is not guard
    assert chooser.frontier.is_complete
    levels = [(level.faults, level.deviations) for level in chooser.frontier.levels]
    assert levels == [(0, 0), (0, 1), (0, 2)]
    assert chooser.note == f"So far complete up to 2 deviations, 1 fault, {len(worlds):,} runs."


@pytest.mark.parametrize("deviations", [1, pytest.param(2, marks=pytest.mark.long)])
def test_who_tries_again_for_ever_does_not_keep_a_hold_for_ever(deviations: int) -> None:
    """A guarded scheduler that is refused tries again each second until it hears why; while that is
    held back it would try for ever. Yet all of the level is played, and each Run comes to rest."""
    chooser = Bounded(deviations_max=deviations)
    worlds = bounded(find("double_bind"), chooser, guard=True)
    assert chooser.frontier.is_complete
    assert {world.verdict.outcome for world in worlds if world.verdict is not None} == {"held"}


@pytest.mark.parametrize(("patched", "instants"), [(None, 8), (3, 3)])
def test_a_hold_ends_when_time_has_passed_over_it_so_often(
    monkeypatch: pytest.MonkeyPatch, patched: int | None, instants: int
) -> None:
    """It ends at each instant up to the last that is allowed, the eighth, and at none twice."""
    heard_ms: list[int] = []

    def ticking(world: World) -> None:
        async def alpha(client: Client) -> None:
            await client.get(Note, "a")
            heard_ms.append(client.now())

        async def beta(client: Client) -> None:
            for _ in range(10):
                await client.sleep(10)

        world.add(note("a"))
        world.start(Puppet("alpha", alpha), Puppet("beta", beta))

    if patched is not None:
        monkeypatch.setattr("testbed.choosers.deviations.deviating.INSTANTS_MAX", patched)
    chooser = Bounded(deviations_max=1)
    worlds = bounded(of(ticking), chooser)
    assert set(heard_ms) == {10 * n for n in range(instants + 1)}
    assert len({tuple(world.trace.choices) for world in worlds}) == len(worlds)


def test_no_run_is_played_twice() -> None:
    """Each set of decisions is another list of choices."""
    for recipe, faults_max in ((find("lost_update"), 0), (LOTS, 1)):
        chooser = Bounded(faults_max=faults_max, deviations_max=1 - faults_max)
        worlds = bounded(recipe, chooser, **({"faults": 1} if faults_max else {}))
        choices: Counter[tuple[Choice, ...]] = Counter(tuple(w.trace.choices) for w in worlds)
        assert max(choices.values()) == 1
        assert len(worlds) == sum(level.runs for level in chooser.frontier.levels)


def test_faults_and_picks_are_levels_of_their_own() -> None:
    """Two red lots take two picks; no Run of the levels before shows it."""
    chooser = Bounded(faults_max=0, deviations_max=2)
    worlds = bounded(LOTS, chooser, 2_000, faults=1, times=1)
    violated = [w.verdict for w in worlds if w.verdict is not None and w.verdict.is_violated]
    assert violated
    assert {verdict.chooser for verdict in violated} == {"bounded, 2 deviations"}
    assert {verdict.faults for verdict in violated} == {0}
    one_fault = Bounded(faults_max=1, deviations_max=0)
    struck = [w.verdict for w in bounded(LOTS, one_fault, faults=2) if w.verdict is not None]
    assert Counter(verdict.faults for verdict in struck) == {0: 1, 1: len(struck) - 1}
    assert one_fault.note == f"So far complete up to 0 deviations, 1 fault, {len(struck)} runs."


def sentences(worlds: list[World]) -> list[Pattern]:
    """All that a race file could say of what happened in these Runs."""
    said: dict[Pattern, None] = {}
    for world in worlds:
        names = Names.in_steps(world.trace.steps)
        for step in world.trace.steps:
            pattern = names.of(step.option) if step.kind != "hold" else None
            if pattern is not None:
                said[pattern] = None
    return list(said)


def holds_of(patterns: list[Pattern]) -> Iterator[Hold]:
    """Every hold there could be."""
    for what in patterns:
        yield Hold(what)
        for until in patterns:
            if until != what:
                yield Hold(what, until)


@pytest.mark.parametrize("guard", [False, True])
def test_brute_force_finds_no_more_with_one_hold(guard: bool) -> None:
    """Every hold of anything until anything, dependent or not, comes to what level 1 came to."""
    missed_by_brute_force(find("lost_update"), 1, guard=guard)


@pytest.mark.long
@pytest.mark.parametrize("guard", [False, True])
@pytest.mark.parametrize(("name", "level"), [("lost_update", 2), ("double_bind", 1)])
def test_brute_force_finds_no_more(name: str, level: int, guard: bool) -> None:
    """The same of two holds, and of two schedulers with their caches."""
    missed_by_brute_force(find(name), level, guard=guard)


def missed_by_brute_force(recipe: Scenario, level: int, **switches: Any) -> None:
    """Play every set of that many holds, and compare what they come to."""
    kept = bounded(recipe, Bounded(deviations_max=level), **switches)
    known = {outcome(world) for world in kept}
    traced = [replayed(recipe, world, **switches) for world in kept]
    races = combinations(holds_of(sentences(traced)), level)
    race = Race(recipe.name, switches={k: str(v).lower() for k, v in switches.items()})  # type: ignore[arg-type]
    played = 0
    for holds in races:
        played += 1
        world = play(Race(race.scenario, race.switches, holds=holds), recipe, keep=False).world
        assert outcome(world) in known, [str(hold) for hold in holds]
    assert played > len(kept)


def replayed(recipe: Scenario, world: World, **switches: Any) -> World:
    """The same Run with its trace kept."""
    return play(race_of(recipe, switches, world.trace.choices), recipe).world


def test_a_plan_goes_elsewhere_and_comes_back() -> None:
    """As plain data, and the Runs are the same wherever they are played."""
    recipe = find("double_bind")
    frontier = Frontier(deviations_max=1)
    alone = [tuple(world.trace.choices) for world in bounded(recipe, Bounded(deviations_max=1))]
    here: list[tuple[Choice, ...]] = []
    while (plan := frontier.next()) is not None:
        sent = Deviant.of(plan.as_list())
        assert sent == plan
        chooser = Deviating(sent, faults_max=1, deviations_max=1)
        world = recipe.world()
        world.run(chooser, driver="direct")
        here.append(tuple(world.trace.choices))
        frontier.told([Deviant.of(child.as_list()) for child in chooser.children])
    assert here == alone
    assert frontier.is_complete


def test_plans_that_are_out_hold_back_the_next_level() -> None:
    """A level is complete when the last of it has been told, not before."""
    frontier = Frontier()
    plan = frontier.next()
    assert plan is not None
    assert frontier.next() is None
    assert not frontier.levels
    child = Deviant(((0, "hold", 0),), 0, 1)
    frontier.told([child])
    assert frontier.next() == child
    assert frontier.levels == [Level(0, 0, 1)]


def test_runs_with_a_fault_and_without_one_take_turns() -> None:
    """Neither waits until all of the other are played."""
    frontier = Frontier(faults_max=1, deviations_max=2)
    assert frontier.next() == Deviant()
    held, struck = ([Deviant(((n, what, 0),), *of) for n in range(3)] for what, of in KINDS)
    frontier.told([*held, *struck])
    given = [frontier.next() for _ in range(4)]
    assert given == [struck[0], held[0], struck[1], held[1]]


def test_a_lane_does_not_wait_for_the_other() -> None:
    """A plan with a fault and a hold is played before the last one of a hold alone; a level that is
    drained is complete only when all that could add to it is."""
    frontier = Frontier(faults_max=1, deviations_max=1)
    frontier.next()
    held = [Deviant(((n, "hold", 0),), 0, 1) for n in range(3)]
    frontier.told([*held, Deviant(((1, "strike", 0),), 1, 0)])
    both = Deviant(((1, "strike", 0), (2, "hold", 0)), 1, 1)
    assert (frontier.next(), frontier.next()) == (Deviant(((1, "strike", 0),), 1, 0), held[0])
    frontier.told([both])
    frontier.told([])
    assert (frontier.next(), frontier.next()) == (both, held[1])
    frontier.told([])
    assert frontier.level == "complete up to 0 deviations, 1 fault"
    frontier.told([])
    assert frontier.next() == held[2]
    late = Deviant(((3, "hold", 0), (4, "strike", 0)), 1, 1)
    frontier.told([late])
    assert frontier.level == "complete up to 1 deviation, 0 faults, and 0 deviations, 1 fault"
    assert frontier.next() == late
    frontier.told([])
    assert [(level.faults, level.deviations) for level in frontier.levels] == [
        (0, 0), (1, 0), (0, 1), (1, 1),
    ]  # fmt: skip
    assert frontier.is_complete


def test_a_plan_that_is_lost_completes_no_level_above_it() -> None:
    """What it would have led to has as many faults and deviations or more; other levels do not
    suffer."""
    frontier = Frontier(faults_max=1, deviations_max=1)
    frontier.next()
    frontier.told([Deviant(((1, "hold", 0),), 0, 1), Deviant(((2, "strike", 0),), 1, 0)])
    assert [frontier.next() is None for _ in range(2)] == [False, False]
    frontier.told([Deviant(((2, "strike", 0), (3, "hold", 0)), 1, 1)])
    frontier.lost()
    assert frontier.next()
    frontier.told([])
    assert frontier.level == "complete up to 0 deviations, 1 fault"
    assert not frontier.is_complete
    assert frontier.next() is None


def test_a_frontier_that_is_too_long_claims_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """What was left out may have been the race."""
    monkeypatch.setattr("testbed.choosers.deviations.frontier.FRONTIER_MAX", 5)
    chooser = Bounded()
    bounded(find("lost_update"), chooser)
    assert not chooser.frontier.is_complete
    assert chooser.frontier.level == "complete up to 0 deviations, 0 faults"
