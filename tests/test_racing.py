"""Racing: any Run is a Race, a Race is a text, and the text makes the same turns again."""

from __future__ import annotations

from collections.abc import Mapping

import pytest
from lots import drawing_lots
from test_raced import BUSY, LATE

from testbed.choosers.uniform import Uniform
from testbed.faults.crash import Crash
from testbed.faults.lose_reply import LoseReply
from testbed.faults.lose_request import LoseRequest
from testbed.option import FAULT, HOLD, PASS, RELEASE
from testbed.racefile import parse
from testbed.racing import play, race_of
from testbed.scenario import Scenario, find, known, of
from testbed.trace import Step, Trace
from testbed.world import World

LOTS = of(drawing_lots)
ASIDES = (HOLD, RELEASE, PASS)


def turns(trace: Trace) -> list[str]:
    """The sentences of what was performed, and of what was picked."""
    return [_said(step) for step in trace.steps if step.kind not in ASIDES]


def _said(step: Step) -> str:
    if step.kind == FAULT:
        return f"{step.option.verb} {step.option.key}"
    return f"{step.sentence} {step.option.label}"


def random_run(recipe: Scenario, seed: int, switches: Mapping[str, object] | None = None) -> World:
    """A Run of a seed that is over."""
    world = recipe.world(switches)
    world.run(Uniform(seed), driver="direct", trace=Trace({}, keep=True))
    return world


@pytest.mark.parametrize("recipe", known(), ids=lambda recipe: recipe.name)
def test_any_run_is_a_race(recipe: Scenario) -> None:
    """Written as a text, read back and played over the calm run, it makes the same turns, and each
    of its lines speaks of something."""
    for seed in range(8 if recipe.name == "tug_of_war" else 30):  # each of its Runs proves a lap
        world = random_run(recipe, seed)
        race = race_of(recipe, {}, world.trace.choices)
        assert parse(race.text(), "a.race.yaml") == race
        played = play(race, recipe)
        assert turns(played.trace) == turns(world.trace), race.text()
        assert played.verdict.outcome == world.verdict.outcome  # type: ignore[union-attr]
        assert all(fate.matched for fate in played.fates)


@pytest.mark.parametrize("faults", [0, 2])
def test_a_run_with_faults_and_picks_is_a_race(faults: int) -> None:
    """Crashes, lost messages, stalls and what else the rich scenario allows."""
    for seed in range(60):
        world = random_run(LOTS, seed, {"faults": faults})
        race = race_of(LOTS, {"faults": faults}, world.trace.choices)
        assert parse(race.text(), "a.race.yaml") == race
        played = play(race, LOTS)
        assert turns(played.trace) == turns(world.trace), f"seed {seed}:\n{race.text()}"


@pytest.mark.parametrize("recipe", [BUSY, LATE], ids=["busy", "late"])
def test_a_run_of_actors_with_several_tasks_is_a_race(recipe: Scenario) -> None:
    """Tasks that ask and pick the same, with faults between; servers that lag, too."""
    faults = (LoseReply(times_max=2), LoseRequest(times_max=2), Crash(restart_after_ms=50))
    for seed in range(25):
        world = recipe.world(faults=faults)
        world.run(Uniform(seed), driver="direct", trace=Trace({}, keep=True))
        race = race_of(recipe, {}, world.trace.choices, faults=faults)
        assert parse(race.text(), "a.race.yaml") == race
        played = play(race, recipe)
        assert turns(played.trace) == turns(world.trace), f"seed {seed}:\n{race.text()}"


def test_a_race_is_played_alike_by_either_driver() -> None:
    """The same trace to the byte."""
    recipe = find("double_bind")
    race = race_of(recipe, {}, random_run(recipe, 1).trace.choices)
    one, other = (play(race, recipe, driver=driver) for driver in ("trio", "direct"))
    assert list(one.trace.lines()) == list(other.trace.lines())
