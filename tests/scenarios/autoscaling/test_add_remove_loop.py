"""add_remove_loop: a node comes and goes for a pod that it never fits, and nothing is learnt."""

from __future__ import annotations

from typing import Any

import pytest

from testbed.choosers.calm import Calm
from testbed.choosers.uniform import Uniform
from testbed.world.scenario import find, play_runs
from testbed.world.world import World

RECIPE = find("add_remove_loop")


@pytest.mark.spec("CA-16", "INV-38")
@pytest.mark.parametrize("chooser", [Calm(), Uniform(1)], ids=["calm", "uniform"])
def test_a_node_that_is_removed_at_once_is_added_for_ever(chooser: Calm | Uniform) -> None:
    """It is proved: four nodes are a lap, since the instances are read every two minutes."""
    verdict = RECIPE.world({"guard": "off"}).run(chooser, driver="direct")
    (violation,) = verdict.violations
    assert violation.invariant == "no_lasso"
    assert "autoscaler sets nodegroups/g target 1 → 0" in violation.said
    assert "a lap of 36 writes in 120,000 ms, played 3 more times" in violation.said


@pytest.mark.spec("CA-16", "INV-38")
def test_a_node_that_stays_shows_what_the_others_would_be() -> None:
    """It is removed in the end, and no other one comes: none would take the pod."""
    targets: list[list[int]] = []

    def look(world: World) -> bool:
        assert world.verdict is not None
        assert world.verdict.outcome == "held"
        log: list[Any] = list(world.store.log("nodegroups").after(0))
        targets.append([change.new.value.target for change in log])
        return True

    play_runs(RECIPE, Uniform(1), look, runs_max=4, switches={"guard": "on"}, driver="direct")
    assert targets == [[0, 1, 0]] * 4
