"""grace_gap: a pod is called over too early, and the next one is bound into what is still taken."""

from __future__ import annotations

import pytest

from testbed.choosers.uniform import Uniform
from testbed.races.playing import Played, play
from testbed.races.racefile import parse
from testbed.world.scenario import find, play_runs
from testbed.world.world import World

RECIPE = find("grace_gap")
RACE = """
scenario: grace_gap
holds:
  - hold: default-scheduler bind pods/default/task-0
    until: user create pods/default/task-1
"""
"""The first task is bound so late that the second one waits for its place."""


def played(guard: str) -> Played:
    """That race."""
    return play(parse(RACE, "race"), RECIPE, switches={"guard": guard})


@pytest.mark.spec("KUB-3", "KUB-7", "KUB-18")
def test_what_is_published_too_early_costs_the_next_pod_its_life() -> None:
    """It is bound at the moment at which the one before it has exited."""
    (violation,) = played("off").verdict.violations
    assert violation.said.startswith("n1 rejects pods/default/task-1: Pod was rejected: ")


@pytest.mark.spec("KUB-3", "KUB-18")
def test_what_is_published_when_all_is_torn_down_does_not() -> None:
    """Neither in that race nor under random choices."""
    assert played("on").verdict.is_held

    def look(world: World) -> bool:
        assert world.verdict is not None
        assert world.verdict.is_held, str(world.verdict)
        return True

    play_runs(RECIPE, Uniform(1), look, runs_max=20, switches={"guard": "on"}, driver="direct")
