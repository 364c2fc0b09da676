"""bench maps: complete maps of small scenarios, compared with plain Runs of the same ones.

A map is made and random Runs are played alternately, round by round, in one process, and the
figures are medians. Rates are by CPU time. `ratio` is how many states are found, each with all its
moves tried, while one plain Run is played: what a state costs is mostly to play again what leads
to it, and to write down what it is compared by.
"""

from __future__ import annotations

from collections.abc import Callable
from statistics import median
from time import process_time
from typing import Any

from testbed.choosers.uniform import Uniform
from testbed.errors import ScenarioError
from testbed.maps.mapping import NoMap, try_to_map
from testbed.maps.state_map import StateMap
from testbed.world.scenario import Scenario, find, play_runs

SCENARIOS = ("lost_update", "two_defaults", "tug_of_war")
"""Each has a map that is made in a second or two."""
ROUNDS = 3
RUNS_S = 0.2
"""How long plain Runs are played in each round; some at least."""
RUNS_MIN = 5


def measure(
    *,
    scenario: str = "",
    rounds: int = ROUNDS,
    tell: Callable[[str], object] = lambda _: None,
) -> dict[str, Any]:
    """The figures of each scenario, or of the one named. `tell` is called with how far it is."""
    names = (scenario,) if scenario else SCENARIOS
    figures = {}
    for name in names:
        tell(name)
        figures[name] = _figures(find(name), rounds)
    return figures


def _figures(recipe: Scenario, rounds: int) -> dict[str, Any]:
    maps: list[float] = []
    plain: list[float] = []
    found: StateMap | None = None
    for number in range(rounds):
        began = process_time()
        made = try_to_map(recipe)
        if isinstance(made, NoMap):
            raise ScenarioError(made.said)
        found = made
        maps.append(made.states / (process_time() - began))
        plain.append(_runs_per_s(recipe, number))
    assert found is not None
    return {
        "states": found.states,
        "moves": found.moves_made,
        "runs": found.runs,
        "states_per_s": round(median(maps)),
        "plain_runs_per_s": round(median(plain)),
        "ratio": round(median(ours / its for ours, its in zip(maps, plain, strict=True)), 3),
    }


def _runs_per_s(recipe: Scenario, seed: int) -> float:
    """Plain Runs in a second, by chance."""
    began, played = process_time(), 0

    def look(_: object) -> bool:
        nonlocal played
        played += 1
        return played < RUNS_MIN or process_time() - began < RUNS_S

    play_runs(recipe, Uniform(seed), look, runs_max=1_000_000, driver="direct")
    return played / (process_time() - began)
