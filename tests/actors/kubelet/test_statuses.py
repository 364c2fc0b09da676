"""What a slow kubelet publishes: late, one after the other, too early; and what it still does."""

from __future__ import annotations

from functools import partial
from typing import Any

import pytest

from actors.kubelet import Workload
from testbed.client.client import Client
from tests.each_row import each_row
from tests.shared.nodes import at, bound, calm, delete, node_world, story


def come(name: str) -> Any:
    """What a user does who gives the node a pod of 800m."""

    async def do(client: Client) -> None:
        await client.create(bound(name, 800))

    return do


@pytest.mark.spec("KUB-3", "KUB-18")
@each_row(("switch", "told_ms"), [("after_stop", 4000), ("at_exit", 1000)])
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
@each_row("switch", ["after_stop", "at_exit"])
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
