"""stolen_slot: one scheduler makes room, another fills it, and one that has both pods does not."""

from __future__ import annotations

import pytest

from testbed.choosers.bounded import Bounded
from testbed.faults.server_error import ServerError
from testbed.world.scenario import find, play_runs
from testbed.world.world import World
from tests.shared.stage import play


def violated(guard: str, runs: int) -> list[str]:
    """What that many Runs of the bounded search show, of few deviations first."""
    seen: list[str] = []

    def look(world: World) -> bool:
        assert world.verdict is not None
        seen.extend(str(violation.invariant) for violation in world.verdict.violations)
        return True

    switches = {"guard": guard}
    recipe = find("stolen_slot")
    play_runs(recipe, Bounded(), look, runs_max=runs, switches=switches, driver="direct")
    return seen


@pytest.mark.spec("SCH-2", "SCH-109")
def test_a_scheduler_knows_of_no_nomination_but_its_own() -> None:
    """One thing that is late is enough: the other scheduler binds into the room."""
    assert set(violated("off", 20)) == {"no_room_is_stolen"}


@pytest.mark.spec("SCH-59", "SCH-102")
def test_a_scheduler_keeps_the_room_that_it_has_made() -> None:
    """With both pods its own, the less important one is refused whatever is late."""
    assert violated("on", 100) == []


@pytest.mark.spec("SCH-64", "SCH-102")
def test_a_room_that_was_given_up_is_not_stolen() -> None:
    """If the bind fails, the scheduler nominates the urgent pod no more, and the late one may have
    the place; whoever took it before that is a thief."""
    refused = ("create/binding pods/default/urgent", "patch/status pods/default/urgent")
    cues = [f"fault * server_error alpha/bind-urgent {what}" for what in refused]
    faults = [ServerError("alpha", code=403, times_max=2)]
    play(find("stolen_slot").world({"guard": "on"}, faults=faults), *cues)
