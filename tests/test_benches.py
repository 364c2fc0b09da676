"""The benchmarks: each measures, and returns the figures it promises. How fast is not asked."""

from __future__ import annotations

import re
from collections import Counter
from typing import Any

import pytest

from testbed.benches import determinism, load, runs, store, turns
from testbed.choosers.calm import Calm
from testbed.scenario import known
from testbed.trace import Trace


def assert_measured(figures: dict[str, Any]) -> None:
    """Every figure is a number, and something was measured."""
    for name, value in figures.items():
        assert isinstance(value, int | float), name
        assert value > 0, name


def test_turns_are_compared_with_what_plain_trio_does() -> None:
    """Turns a second and their ratio to trio's checkpoints, hand-offs, writes, the other driver."""
    figures = turns.measure(rounds=1, turns=400)
    assert list(figures) == [
        "trio_checkpoints_per_s", "trio_tasks", "turns_per_s", "ratio", "handoffs_per_s",
        "turns_with_writes_per_s", "ratio_with_writes", "turns_direct_driver_per_s",
    ]  # fmt: skip
    assert_measured(figures)
    assert figures["trio_tasks"] == 10


def test_the_store_is_measured_at_two_sizes() -> None:
    """Writes, reads and deliveries a second at both, and how much dearer a write has become."""
    figures = store.measure(rounds=1, operations=100, sizes=(10, 50))
    rates = [f"{what}_per_s_at_{size}" for size in (10, 50) for what in RATES]
    assert list(figures) == [*rates, "write_cost_growth"]
    assert_measured(figures)
    assert store.SIZES == (1_000, 100_000)


RATES = ("writes", "reads", "deliveries")


def test_runs_of_every_scenario_are_measured() -> None:
    """Runs a second under both drivers, and how they compare."""
    figures = runs.measure(rounds=1, runs=2)
    assert list(figures) == [scenario.name for scenario in known()]
    for some in figures.values():
        assert list(some) == ["runs_per_s", "runs_direct_driver_per_s", "ratio_direct_to_trio"]
        assert_measured(some)


@pytest.mark.parametrize("driver", ["trio", "direct"])
def test_determinism_is_a_digest_over_all_traces(driver: str) -> None:
    """Of so many Runs of each scenario; it says what it has played, and tells of each Run."""
    told: Counter[int] = Counter()

    def done(number: int) -> None:
        told[number] += 1

    figures = determinism.measure(runs=4, seed=7, driver=driver, crashes=1, done=done)
    assert list(figures) == [
        "runs", "scenarios", "seed", "driver", "crashes", "violated", "digest",
    ]  # fmt: skip
    assert figures["runs"] == 4 * len(known()) == told[1]
    assert (figures["seed"], figures["driver"]) == (7, driver)
    assert figures["scenarios"] == [scenario.name for scenario in known()]
    assert re.fullmatch("[0-9a-f]{64}", figures["digest"])


@pytest.mark.parametrize("kind", [load.Reader, load.Writer])
def test_the_load_is_ten_actors_and_about_so_many_turns(
    kind: type[load.Reader] | type[load.Writer],
) -> None:
    """Each an operation after another: what is counted as a turn is what a user would count."""
    trace = Trace({}, keep=True)
    verdict = load.world(kind, 1000).run(Calm(), driver="direct", trace=trace)
    assert verdict.is_held
    assert abs(verdict.turns - 1000) <= 30
    kinds = Counter(step.kind for step in trace.steps)
    assert kinds["serve"] == kinds["answer"]
    assert kinds["start"] == load.ACTORS == 10
