"""bench compare: what it costs to measure a Run, beside playing it; and to resample the figures."""

from __future__ import annotations

from collections.abc import Callable
from statistics import median
from time import perf_counter
from typing import Any

from testbed.choosers.uniform import Uniform
from testbed.search.comparing.alternatives import Alternative
from testbed.search.comparing.comparison import compare
from testbed.search.comparing.measure_kinds import measures_of
from testbed.world.scenario import find, play_runs

SCENARIO, SWITCHES = "who_preempts", {"guard": "on"}
ROUNDS, RUNS, RESAMPLED = 3, 5, 30


def measure(
    rounds: int = ROUNDS,
    runs: int = RUNS,
    resampled: int = RESAMPLED,
    *,
    tell: Callable[[str], object] = lambda _: None,
) -> dict[str, Any]:
    """Runs per second played alone, and with all measures of each; and the time of the intervals
    of thirty Runs."""
    recipe, same = find(SCENARIO), Alternative("guard=on", SWITCHES)
    rates: dict[str, list[float]] = {"played": [], "measured": []}
    for number in range(rounds):
        tell(f"round {number + 1} of {rounds}")
        began = perf_counter()
        play_runs(recipe, Uniform(number), lambda _: True, runs_max=runs, switches=SWITCHES,
                  driver="direct")  # fmt: skip
        played = perf_counter()
        compare(recipe, [same], measures_of(()), runs=runs, seed=number, draws=0)
        rates["played"].append(runs / (played - began))
        rates["measured"].append(runs / (perf_counter() - played))
    began = perf_counter()
    quick = find("lost_update")
    alternatives = [Alternative("guard=on", SWITCHES)] * 2
    compare(quick, alternatives, measures_of(()), runs=resampled)
    pairs = zip(rates["measured"], rates["played"], strict=True)
    return {
        "scenario": SCENARIO,
        "runs_played_per_s": round(median(rates["played"]), 2),
        "runs_measured_per_s": round(median(rates["measured"]), 2),
        "ratio_measured_to_played": round(median(m / p for m, p in pairs), 2),
        "resampling_ms": round((perf_counter() - began) * 1000),
    }
