"""What the autoscaler knows of the cloud is not older than what has become of its own calls."""

from __future__ import annotations

from typing import Any

from actors.apiserver import ApiServer
from actors.autoscaler.state.cloud_view import CloudView
from actors.cloud import NodeGroup, join_cloud
from testbed.choosers.uniform import Uniform
from testbed.client.client import Client
from testbed.errors import ApiError
from testbed.faults.lose_reply import LoseReply
from testbed.objects import Node
from testbed.world.scenario import of, play_runs
from testbed.world.world import World
from tests.shared.stage import Puppet


async def reads_and_deletes(client: Client) -> None:
    """Read the groups while a deletion goes on; then compare, if that has ended first."""
    view = CloudView(client, "cloud")
    await view.refresh()
    ended: list[str] = []

    async def deletes() -> None:
        try:
            await view.delete_nodes("g", ("g-1",))
        except ApiError:
            ended.append("failed")
        else:
            ended.append("done")

    client.spawn("delete", deletes)
    await view.refresh()
    group = view.group("g")
    assert group is not None
    client.record("knows", target=group.target, ended=bool(ended))


def build(world: World) -> None:
    """A group of two nodes, one of which is deleted."""
    world.serve(ApiServer)
    join_cloud(world, NodeGroup("g", target=2, template=Node.of("any", cpu_m=1000)))
    world.start(Puppet("ann", reads_and_deletes))
    world.allow(LoseReply("ann"))


def test_groups_are_not_older_than_a_call_that_has_ended() -> None:
    """The groups are read, and then a node is deleted, of which is heard first. Then the deletion
    runs no more, and only the target could tell of it (INV-35)."""
    known: set[tuple[Any, ...]] = set()

    def look(world: World) -> bool:
        for record in world.evidence.records:
            if record.name == "knows":
                known.add((record.facts["ended"], record.facts["target"]))
        return True

    play_runs(of(build, "reads"), Uniform(0), look, runs_max=80, driver="direct")
    assert (False, 2) in known
    assert {target for ended, target in known if ended} == {1}
