"""The scheduler: one cycle after another, from its queue to a bind or to the queue again."""

from __future__ import annotations

import pytest
from scheduling import (
    attempts,
    cluster,
    pending,
    there,
    with_kubelets,
    writes,
)
from stage import play

from testbed.client import Client

FULL = "0/1 nodes are available: 1 Insufficient cpu."
NOBODY = (
    f"{FULL} preemption: 0/1 nodes are available: 1 No preemption victims found for incoming pod.."
)
ON_THEIR_WAY = f"{FULL} preemption: not eligible due to a terminating pod on the nominated node.."
BOTH = pytest.mark.parametrize("driver", ["trio", "direct"])


@pytest.mark.spec("SCH-10", "SCH-18", "SCH-67", "SCH-72", "SCH-98", "SCH-101", "SCH-102")
@BOTH
def test_a_preemptor_waits_until_its_victims_have_ended(driver: str) -> None:
    """The first golden timeline: each cycle at its time, with its message; nobody takes the room
    that was made, and nobody is deleted twice."""

    async def user(client: Client) -> None:
        await client.create(pending("c", 10, 1000))
        await client.create(pending("d", 2, 50))

    victims = (there("a", 5, 100, grace_s=60), there("b", 5, 100, grace_s=30))
    world = with_kubelets(cluster(*victims, user=user), "n1")
    played = play(world, driver=driver)
    assert attempts(world) == [
        f"0 c#1 {FULL}", f"0 d#1 {NOBODY}", f"30000 c#2 {ON_THEIR_WAY}", f"30000 d#2 {NOBODY}",
        "60000 c#3 n1", f"60000 d#3 {NOBODY}",
    ]  # fmt: skip
    assert writes(played.steps) == [
        "patch/status a", "delete a", "patch/status b", "delete b", "patch/status c",
        "patch/status d", "patch/status c", "create/binding c",
    ]  # fmt: skip
    assert played.verdict.virtual_ms == 60_000
