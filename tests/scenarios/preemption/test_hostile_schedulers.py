"""hostile_schedulers: a fight for one place is a loop, and is none where both go by priority."""

from __future__ import annotations

import pytest

from testbed.choosers.calm import Calm
from testbed.world.scenario import find

RECIPE = find("hostile_schedulers")


@pytest.mark.spec("SCH-111", "INV-21")
def test_schedulers_that_take_each_other_for_less_important_fight_for_ever() -> None:
    """It is proved: what is evicted comes again, is bound again, and is evicted again, though both
    pods are of one priority."""
    world = RECIPE.world()
    verdict = world.run(Calm(), driver="direct")
    (violation,) = verdict.violations
    assert violation.invariant == "no_lasso"
    assert "beta sets one of pods spec.node_name nothing → n1" in violation.said
    assert "PodScheduled=True → PodScheduled=False and DisruptionTarget=True" in violation.said
    assert "alpha deletes one of pods" in violation.said
    assert "a lap of 15 writes in 30,000 ms, played 3 more times" in violation.said
