"""stolen_slot: one scheduler makes room, another fills it, and one that has both pods does not."""

from __future__ import annotations

import pytest

from testbed.faults.server_error import ServerError
from testbed.world.scenario import find
from tests.shared.stage import play


@pytest.mark.spec("SCH-64", "SCH-102")
def test_a_room_that_was_given_up_is_not_stolen() -> None:
    """If the bind fails, the scheduler nominates the urgent pod no more, and the late one may have
    the place; whoever took it before that is a thief."""
    refused = ("create/binding pods/default/urgent", "patch/status pods/default/urgent")
    cues = [f"fault * server_error alpha/bind-urgent {what}" for what in refused]
    faults = [ServerError("alpha", code=403, times_max=2)]
    play(find("stolen_slot").world({"guard": "on"}, faults=faults), *cues)
