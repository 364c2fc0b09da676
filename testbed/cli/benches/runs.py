"""bench runs: whole Runs per second, assembled, played and judged, with both drivers in turn."""

from __future__ import annotations

from statistics import median
from time import perf_counter
from typing import Any

from testbed.choosers.uniform import Uniform
from testbed.world.scenario import Scenario, find, known, play_runs

ROUNDS = 3
RUNS = 300


def measure(rounds: int = ROUNDS, runs: int = RUNS, *, scenario: str = "") -> dict[str, Any]:
    """For each scenario, or the one named: Runs per second with each driver, and their ratio."""
    figures: dict[str, Any] = {}
    for played in [find(scenario)] if scenario else known():
        rates: dict[str, list[float]] = {"trio": [], "direct": []}
        for number in range(rounds):
            for driver, some in rates.items():
                some.append(_runs_per_s(played, runs, number, driver))
        pairs = zip(rates["direct"], rates["trio"], strict=True)
        figures[played.name] = {
            "runs_per_s": _rounded(median(rates["trio"])),
            "runs_direct_driver_per_s": _rounded(median(rates["direct"])),
            "ratio_direct_to_trio": round(median(d / t for d, t in pairs), 2),
        }
    return figures


def _runs_per_s(scenario: Scenario, runs: int, seed: int, driver: str) -> float:
    began = perf_counter()
    play_runs(scenario, Uniform(seed), lambda _: True, runs_max=runs, driver=driver)
    return runs / (perf_counter() - began)


def _rounded(rate: float) -> float:
    """A whole number, unless that would say nothing."""
    return round(rate) if rate >= 10 else round(rate, 2)
