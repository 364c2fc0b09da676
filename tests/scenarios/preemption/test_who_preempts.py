"""who_preempts: whichever program makes room, no equal goes and every urgent pod runs at last."""

from __future__ import annotations

import pytest

from testbed.choosers.calm import Calm
from testbed.choosers.uniform import Uniform
from testbed.errors import ScenarioError, UnknownName
from testbed.world.scenario import find

RECIPE = find("who_preempts")
PREEMPTORS = ("scheduler", "rescheduler", "kubelet", "none")


@pytest.mark.spec("CTL-50", "CTL-51", "CTL-54")
@pytest.mark.parametrize("preemptor", PREEMPTORS)
def test_every_claim_holds_whichever_program_preempts(preemptor: str) -> None:
    """With one scheduler for all pods."""
    for chooser in (Calm(), Uniform(1), Uniform(2)):
        world = RECIPE.world({"guard": "on", "preemptor": preemptor})
        verdict = world.run(chooser, driver="direct")
        assert verdict.is_held, str(verdict)


@pytest.mark.spec("SCH-109")
def test_a_scheduler_beside_it_gives_the_nominated_room_away() -> None:
    """As it hears of no nomination."""
    world = RECIPE.world()
    verdict = world.run(Uniform(1), driver="direct")
    assert [each.invariant for each in verdict.violations] == ["no_nominated_room_is_taken"]


def test_its_settings_are_checked() -> None:
    """A word and two numbers."""
    with pytest.raises(ScenarioError, match="from one to two urgent pods for each node"):
        RECIPE.world({"nodes": 2, "urgent": 5})
    with pytest.raises(UnknownName, match="preemptor"):
        RECIPE.world({"preemptor": "janitor"})
