"""who_preempts: whichever program makes room, no equal goes and every urgent pod runs at last."""

from __future__ import annotations

import pytest

from testbed.choosers.calm import Calm
from testbed.choosers.uniform import Uniform
from testbed.errors import ScenarioError, UnknownName
from testbed.search.comparing.made_room import rooms_in, was_of_use
from testbed.search.comparing.run_history import RunHistory
from testbed.search.comparing.taken_room import taken_rooms_in
from testbed.turns.trace import Trace
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


@pytest.mark.spec("SCH-104", "CTL-52")
def test_what_a_scheduler_wastes_it_ends_for_pods_that_came_back() -> None:
    """It preempts at once for a pod that was made in place of a victim, and an urgent pod that
    comes soon takes that room. A rescheduler that nominates looks later: the urgent pod is there by
    then, and comes first."""
    nominates = {"preemptor": "rescheduler", "scheduler.rescheduler_nominates": "on"}
    wasted: dict[str, list[bool]] = {}
    for name, given in (("at once", {}), ("late", nominates)):
        world = RECIPE.world({"guard": "on", **given})
        world.run(Uniform(2), driver="direct", trace=Trace({}, keep=True))
        history = RunHistory(world)
        rooms = rooms_in(history)
        for room in (each for each in rooms if not was_of_use(history, rooms, each)):
            life = history.pods[room.preemptor]
            assert (life.pod.meta.labels["app"], life.was_there) == ("noisy", False)
            wasted.setdefault(name, []).append(room.at_ms - life.created_ms < 50)
        assert {taken.thief.priority for taken in taken_rooms_in(history)} <= {1000}
    assert wasted == {"at once": [True, False]}


def test_its_settings_are_checked() -> None:
    """A word and two numbers."""
    with pytest.raises(ScenarioError, match="from one to two urgent pods for each node"):
        RECIPE.world({"nodes": 2, "urgent": 5})
    with pytest.raises(UnknownName, match="preemptor"):
        RECIPE.world({"preemptor": "janitor"})
