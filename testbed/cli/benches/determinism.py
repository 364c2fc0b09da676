"""bench determinism: one digest of the traces of many Runs, to compare between processes."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Container
from typing import Any

from testbed.choosers.uniform import Uniform
from testbed.faults.crash import Crash
from testbed.world.scenario import Scenario, find, known, of, play_runs
from testbed.world.world import World

RUNS = 10_000


def length(runs: int = RUNS, scenario: str = "", **_: Any) -> int:
    """The number of Runs to play, for the progress bar."""
    return runs * len(_played(scenario))


def measure(
    runs: int = RUNS,
    *,
    seed: int = 0,
    driver: str = "trio",
    crashes: int = 0,
    scenario: str = "",
    left_out: Container[str] = (),
    done: Callable[[int], None] = lambda _: None,
) -> dict[str, Any]:
    """Play `runs` Runs of each scenario, or of the one named, each with at most `crashes` crashes,
    and digest them."""
    digest = hashlib.sha256()
    scenarios = [each for each in _played(scenario) if each.name not in left_out]
    struck = violated = 0

    def look(world: World) -> bool:
        nonlocal struck, violated
        for line in world.trace.lines():
            digest.update(line)
        if world.verdict is not None:
            struck += world.verdict.faults
            violated += world.verdict.is_violated
        done(1)
        return True

    for each in scenarios:
        crashing = _with_crashes(each, crashes)
        play_runs(crashing, Uniform(seed), look, runs_max=runs, driver=driver, keep=True)
    return {
        "runs": runs * len(scenarios),
        "scenarios": [each.name for each in scenarios],
        "seed": seed,
        "driver": driver,
        "crashes": struck,
        "violated": violated,
        "digest": digest.hexdigest(),
    }


def _played(scenario: str) -> list[Scenario]:
    return [find(scenario)] if scenario else known()


def _with_crashes(scenario: Scenario, crashes: int) -> Scenario:
    if not crashes:
        return scenario

    def crashing(world: World) -> None:
        scenario.build(world)
        world.allow(Crash(times_max=crashes, restart_after_ms=100))
        world.allow(Crash("store", restart_after_ms=100))

    return of(crashing, scenario.name)
