"""The switch `nominations`: whether a nomination keeps room from the pods of other schedulers."""

from __future__ import annotations

import attrs
import pytest

from actors.shared.verbs import bind
from testbed.client.client import Client
from testbed.objects import Pod
from testbed.world.world import World
from tests.each_row import each_row
from tests.shared.scheduling import books, cluster, delete, node_of, pending
from tests.shared.stage import Doing, play

ALL = {"nominations": "all"}


def theirs(priority: int = 1000) -> Pod:
    """A pod of another scheduler, which is nominated to n1."""
    pod = pending("theirs", 8, priority, scheduler_name="beta")
    return attrs.evolve(pod, status=attrs.evolve(pod.status, nominated_node_name="n1"))


def held(world: World) -> list[str]:
    """The pods that alpha holds nominated to n1 in the end."""
    return [info.pod.meta.name for info in books(world).beliefs.nominator.on("n1")]


@pytest.mark.spec("SCH-109", "SCH-59")
@each_row(
    ("nominations", "priority", "node"),
    [("own", 1000, "n1"), ("all", 1000, ""), ("all", 50, ""), ("all", 0, "n1")],
)
def test_room_is_kept_for_a_foreign_pod_that_is_no_less_important(
    nominations: str, priority: int, node: str
) -> None:
    """And if the scheduler knows of its nomination at all."""
    switches = {"nominations": nominations}
    world = cluster(theirs(priority), pending("mine", 8, 50), switches=switches)
    play(world)
    assert node_of(world, "mine") == node
    assert held(world) == (["theirs"] if nominations == "all" else [])


async def cleared(client: Client) -> None:
    """Its scheduler no longer wants it there."""
    status = {"status": {"nominatedNodeName": None}}
    await client.patch(Pod("theirs"), status, subresource="status")


async def placed(client: Client) -> None:
    """Its scheduler has found it another node."""
    await bind(client, theirs(), "n2")


async def gone(client: Client) -> None:
    """Somebody deletes it."""
    await delete(client, "theirs")


@pytest.mark.spec("SCH-49")
@each_row("what", [cleared, placed, gone])
def test_a_foreign_nomination_ends_as_ones_own_does(what: Doing) -> None:
    """When it is cleared, and when its pod is bound or gone: a pod that comes later has the room,
    though there is another node."""

    async def user(client: Client) -> None:
        await client.sleep(1000)
        await what(client)
        await client.sleep(1000)
        await client.create(pending("mine", 8))

    world = cluster(theirs(), nodes=2, user=user, switches=ALL)
    play(world)
    assert held(world) == []
    assert node_of(world, "mine") == "n1"


@pytest.mark.spec("SCH-46")
def test_a_foreign_nomination_that_is_written_later_is_heard_of() -> None:
    """As when another scheduler makes room while this one runs."""

    async def user(client: Client) -> None:
        await client.sleep(1000)
        status = {"status": {"nominatedNodeName": "n1"}}
        await client.patch(Pod("theirs"), status, subresource="status")
        await client.sleep(1000)
        await client.create(pending("mine", 8))

    unsaid = pending("theirs", 8, 1000, scheduler_name="beta")
    world = cluster(unsaid, user=user, switches=ALL)
    play(world)
    assert (node_of(world, "mine"), held(world)) == ("", ["theirs"])


@pytest.mark.spec("SCH-27", "SCH-49")
@each_row("what", [cleared, placed, gone])
def test_its_end_is_an_event_for_who_had_to_leave_room(what: Doing) -> None:
    """If the end of a nomination is one at all: so it is with ones own."""

    async def user(client: Client) -> None:
        await client.sleep(30_000)
        await what(client)

    switches = {**ALL, "requeue_others_on_nnn_clear": "on"}
    world = cluster(theirs(), pending("mine", 8), user=user, switches=switches)
    play(world)
    assert (node_of(world, "mine"), held(world)) == ("n1", [])


@pytest.mark.spec("SCH-47")
def test_a_foreign_pod_that_is_bound_is_nominated_no_more() -> None:
    """Not even by a nominator that does not look whether its pods still wait."""

    async def user(client: Client) -> None:
        await client.sleep(1000)
        await placed(client)

    world = cluster(theirs(), nodes=2, user=user, switches={**ALL, "nominates_gone": "on"})
    play(world)
    assert held(world) == []
