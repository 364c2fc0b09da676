"""Runs of a drawn cluster: the faults that strike it, and what its Runs have shown."""

from __future__ import annotations

import attrs

from testbed.choosers.uniform import Uniform
from testbed.fault import Fault
from testbed.faults.crash import Crash
from testbed.turns.verdict import Verdict
from testbed.world.scenario import Scenario, play_runs
from testbed.world.world import World
from tests.models.all_faults import all_faults


def restarting(restart_ms: int) -> tuple[Fault, ...]:
    """All faults; a program that has crashed is started again after that time."""
    return tuple(
        attrs.evolve(fault, restart_after_ms=restart_ms) if isinstance(fault, Crash) else fault
        for fault in all_faults()
    )


def verdicts(
    cluster: Scenario, runs: int, *, seed: int, faults: tuple[Fault, ...]
) -> list[Verdict]:
    """What that many Runs of the cluster have shown, up to the first Violation."""
    found: list[Verdict] = []

    def look(world: World) -> bool:
        assert world.verdict is not None
        found.append(world.verdict)
        return not world.verdict.is_violated

    play_runs(cluster, Uniform(seed), look, runs_max=runs, faults=faults, driver="direct")
    return found


def breaches(number: int, found: list[Verdict]) -> list[str]:
    """The verdicts that are Violations, each with the number of its cluster."""
    return [f"cluster {number}: {verdict}" for verdict in found if verdict.is_violated]
