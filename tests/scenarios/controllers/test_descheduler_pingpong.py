"""descheduler_pingpong: an eviction that helps nobody is undone in each lap; node_fit ends that."""

from __future__ import annotations

import pytest

from testbed.choosers.bounded import Bounded
from testbed.choosers.calm import Calm
from testbed.choosers.uniform import Uniform
from testbed.world.scenario import find, play_runs
from testbed.world.world import World

RECIPE = "descheduler_pingpong"


@pytest.mark.spec("CTL-57")
@pytest.mark.parametrize("chooser", [Calm(), Uniform(1)], ids=["calm", "uniform"])
def test_a_duplicate_that_fits_nowhere_else_is_evicted_for_ever(chooser: Calm | Uniform) -> None:
    """The lap is proved: one eviction, one new pod and one bind in each pass of a minute."""
    verdict = find(RECIPE).world({"guard": "off"}).run(chooser, driver="direct")
    (violation,) = verdict.violations
    assert "descheduler deletes one of pods" in violation.said
    assert "spec.node_name nothing → n1" in violation.said
    assert "a lap of 7 writes in 60,000 ms" in violation.said


@pytest.mark.spec("CTL-57")
def test_with_node_fit_it_stays() -> None:
    """Whatever is late, nothing is evicted that fits nowhere else."""
    outcomes: list[str] = []

    def look(world: World) -> bool:
        assert world.verdict is not None
        outcomes.append(world.verdict.outcome)
        assert not [each for each in world.table.records if each.name == "evicted"]
        return True

    on = {"guard": "on"}
    play_runs(find(RECIPE), Bounded(), look, runs_max=40, switches=on, driver="direct")
    assert outcomes == ["held"] * 40
