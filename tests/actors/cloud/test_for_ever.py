"""A node that is added and taken away again and again: a search can tell that this goes on."""

from __future__ import annotations

from typing import Any

from actors.apiserver import ApiServer
from actors.cloud import Boot, NodeGroup, join_cloud
from actors.kubelet import Machine
from actors.shared.node_groups import delete_nodes, increase
from testbed import Calm, Client, World, no_lasso
from testbed.objects import Node
from testbed.turns.found import LAP
from tests.each_row import each_row
from tests.shared.stage import Puppet


@each_row("machine", [None, Machine])
def test_a_group_that_grows_and_shrinks_for_ever_is_a_lasso(machine: Any) -> None:
    """Nothing in the cloud's records counts the laps (INV-38)."""

    async def to_and_fro(client: Client) -> None:
        while True:
            await increase(client, "g", 1)
            await client.sleep(10_000, "lap")
            await delete_nodes(client, "g", ("g-1",))
            await client.sleep(10_000, "lap")

    world = World("to-and-fro")
    world.serve(ApiServer)
    template = Node.of("any", cpu_m=1000)
    group = NodeGroup("g", max_size=1, spare=0, template=template, boots=(Boot(2000, 3000),))
    join_cloud(world, group, machine=machine)
    world.start(Puppet("ann", to_and_fro))
    world.limit(virtual_ms_max=2_000_000)
    world.claim(no_lasso())
    verdict = world.run(Calm())
    assert [each.invariant for each in verdict.violations] == ["no_lasso"], verdict
    (lap,) = verdict.violations
    assert lap.reason == LAP
    assert lap.about.keys
    assert lap.about.actors
