"""What a slow kubelet publishes: late, one after the other, too early; and what it still does."""

from __future__ import annotations

from functools import partial
from typing import Any

import pytest

from actors.kubelet import Workload
from testbed.client.client import Client
from testbed.faults.partition import Partition
from tests.shared.nodes import KUBELET, at, bound, calm, delete, node_world, story
from tests.shared.stage import play


def come(name: str) -> Any:
    """What a user does who gives the node a pod of 800m."""

    async def do(client: Client) -> None:
        await client.create(bound(name, 800))

    return do


@pytest.mark.spec("KUB-45")
def test_a_kubelet_without_a_network_stops_pods_in_time() -> None:
    """It has heard of the deletion and cannot say so: the grace ends all the same, and the object
    goes when it is connected again."""
    world = node_world(
        Workload(is_deaf=True).given_to(bound("a", grace_s=5)),
        user=at((1000, partial(delete, name="a"))),
    )
    world.allow(Partition(KUBELET, for_ms=60_000))
    heard = "deliver kubelet-n1/watch-pods pods/default/a MODIFIED#2"
    played = play(world, heard, f"fault * partition {KUBELET}")
    assert played.only("wake kubelet-n1/pod-a kill*").now_ms == 6000
    writes = [step.now_ms for step in played.every("serve kubelet-n1/statuses *")]
    assert writes[1:] == [61_000] * 3
    assert story(world, "a")[-1] == "61000 gone"


@pytest.mark.spec("KUB-3", "KUB-18")
@pytest.mark.parametrize(("switch", "told_ms"), [("after_stop", 4000), ("at_exit", 1000)])
def test_what_is_being_torn_down_still_takes_its_room(switch: str, told_ms: int) -> None:
    """For three seconds after its exit: only a kubelet of long ago has said so before."""
    short = Workload(runs_ms=1000, torn_down_after_ms=3000)
    world = node_world(
        short.given_to(bound("a", 800, restart_policy="Never")),
        user=at((3999, come("b")), (4500, come("c"))), switches={"publish_terminal": switch},
    )  # fmt: skip
    calm(world)
    assert story(world, "a")[-1] == f"{told_ms} Succeeded"
    assert story(world, "b")[-1] == "3999 Failed OutOfcpu"
    assert story(world, "c")[-1] == "4500 Running Ready"


@pytest.mark.spec("KUB-20")
@pytest.mark.parametrize("switch", ["after_stop", "at_exit"])
def test_an_object_goes_when_all_of_it_is_torn_down(switch: str) -> None:
    """Whatever is published before."""
    slow = Workload(stops_after_ms=1000, torn_down_after_ms=3000)
    user = at((1000, partial(delete, name="a")))
    given = {"publish_terminal": switch, "terminal_phase_before_delete": "on"}
    world = node_world(slow.given_to(bound("a")), user=user, switches=given)
    calm(world)
    said = 2000 if switch == "at_exit" else 5000
    assert f"{said} Failed, 30 s" in story(world, "a")
    assert story(world, "a")[-1] == "5000 gone"


@pytest.mark.spec("KUB-22")
def test_a_slow_kubelet_publishes_late() -> None:
    """Each change so much later; what has passed meanwhile is never told."""
    world = node_world(
        bound("a", grace_s=1), user=at((5000, partial(delete, name="a"))),
        start_delay_ms=1000, ready_delay_ms=500, switches={"status_delay_ms": "700"},
    )  # fmt: skip
    calm(world)
    assert story(world, "a") == [
        "0 Pending", "2200 Running Ready", "5000 Running Ready, 1 s", "6700 Running, 1 s",
        "6700 Running, 0 s", "6700 gone",
    ]  # fmt: skip
