"""bench false-alarms: whether a claim fires where nothing is wrong, in many Runs.

Each pair is searched with its guard on, and each control and lesson as it is, with the faults that
it allows and the Choosers of `testbed search`. No claim should fire: the figures say where one has.
The Runs of a scenario are shared out over a few seeds.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import closing
from time import process_time
from typing import Any

import attrs

from testbed.child import IN_ONE, Jobs
from testbed.search.sharing import shared_out
from testbed.search.usual import usual_search
from testbed.world.scenario import GUARD, Scenario, find, known

RUNS = 100
"""How many Runs are played of each scenario."""
SEEDS = 4


@attrs.frozen
class Quiet:
    """What some Runs of one scenario have come to."""

    runs: int
    undecided: int
    cpu_s: float
    alarm: str = ""
    """What claim has fired; empty if none has."""


def length(seeds: int = SEEDS, scenario: str = "", **_: Any) -> int:
    """The number of searches, for the progress bar."""
    return seeds * len(_scenarios(scenario))


def measure(
    runs: int = RUNS,
    seeds: int = SEEDS,
    *,
    scenario: str = "",
    jobs: Jobs = IN_ONE,
    done: Callable[[int], None] = lambda _: None,
) -> dict[str, Any]:
    """For each scenario, or the one named, and for all: Runs, those undecided, and alarms."""
    recipes = _scenarios(scenario)
    parts = [(each, seed) for each in recipes for seed in range(seeds)]
    found: dict[str, list[Quiet]] = {each.name: [] for each in recipes}

    def listened(number: int) -> Quiet:
        recipe, seed = parts[number]
        return listen(recipe, seed, runs // seeds + (seed < runs % seeds))

    with closing(shared_out(listened, len(parts), jobs)) as every:
        for (recipe, _), one in zip(parts, every, strict=True):
            found[recipe.name].append(one)
            done(1)
    figures = {name: summary(some) for name, some in found.items()}
    every_one = summary([one for some in found.values() for one in some])
    return {**figures, "all": {**every_one, "first_alarm": _first(figures)}}


def _first(figures: dict[str, dict[str, Any]]) -> str | None:
    """The first alarm of all, with its scenario."""
    alarms = ((name, each["first_alarm"]) for name, each in figures.items())
    return next((f"{name}: {alarm}" for name, alarm in alarms if alarm), None)


def _scenarios(name: str) -> list[Scenario]:
    return [find(name)] if name else known()


def listen(recipe: Scenario, seed: int, runs: int) -> Quiet:
    """Play that many Runs of a scenario in which no claim may fire, or fewer if one does."""
    began = process_time()
    switches = {GUARD: "on"} if recipe.has_guard else {}
    search = usual_search(recipe.name, switches, seed, runs, shrinks=False)
    first = next(iter(search.found), None)
    alarm = f"{first.invariant}: {first.said} (seed {seed})" if first is not None else ""
    undecided = search.verdicts.get("undecided", 0)
    return Quiet(search.runs, undecided, process_time() - began, alarm)


def summary(some: Sequence[Quiet]) -> dict[str, Any]:
    """The sums of some of them, and the first alarm."""
    alarms = [each.alarm for each in some if each.alarm]
    return {
        "runs": sum(each.runs for each in some),
        "undecided": sum(each.undecided for each in some),
        "alarms": len(alarms),
        "first_alarm": alarms[0] if alarms else None,
        "cpu_s": round(sum(each.cpu_s for each in some), 1),
    }
