"""rollout_and_preemption: a victim is counted as available, and an old pod is deleted for it."""

from __future__ import annotations

import pytest

from testbed.choosers.calm import Calm
from testbed.choosers.uniform import Uniform
from testbed.races.playing import Played, play
from testbed.world.scenario import find, play_runs
from testbed.world.world import World
from tests.models.worlds.shelved import race_named

RECIPE = find("rollout_and_preemption")
RACE = race_named("rollout_and_preemption")


def played(guard: str) -> Played:
    """The race that a search has found, played with the guard or without."""
    return play(RACE, RECIPE, switches={"guard": guard})


@pytest.mark.spec("CTL-5", "SCH-95")
def test_an_old_count_costs_the_pod_that_must_stay() -> None:
    """The victim is still counted in the status of its ReplicaSet."""
    assert "only 1 of 2 are left" in str(played("off").verdict)


def test_an_urgent_pod_that_preempts_none_costs_none() -> None:
    """The same race with the guard, and some that are drawn."""
    assert played("on").verdict.is_held
    held: list[bool] = []

    def look(world: World) -> bool:
        assert world.verdict is not None
        held.append(world.verdict.is_held)
        return held[-1]

    for chooser, runs in ((Calm(), 1), (Uniform(0), 12)):
        switches = {"guard": "on"}
        play_runs(RECIPE, chooser, look, runs_max=runs, switches=switches, driver="direct")
    assert all(held)
