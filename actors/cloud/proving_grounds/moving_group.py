"""Moving group: one that grows, loses a machine on which pods run, and gives its name again.

The claim about clouds is checked in it, and their mutants are hunted in it.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any

import attrs

from actors.apiserver.server import ApiServer
from actors.cloud.controller import CloudController
from actors.cloud.invariants import cloud_claims
from actors.cloud.joining import join_cloud
from actors.cloud.node_group import NodeGroup
from actors.kubelet.machine import Machine
from actors.shared.machines import Boot
from actors.shared.node_groups import delete_nodes, increase
from testbed import Actor, ApiError, Client, NotFound, World
from testbed.errors import Invalid
from testbed.objects import Node, Pod

BOOTS = (Boot(5000, 8000), Boot(2000))


@attrs.frozen
class GroupOwner(Actor):
    """Wants one machine more, deletes the first one, wants one more again, and deletes another."""

    async def run(self, client: Client) -> None:
        await _until_told(client, partial(increase, client, "g", 1))
        await client.sleep(7000, "grown")
        await _until_told(client, partial(delete_nodes, client, "g", ("g-1",)))
        await client.sleep(4000, "shrunk")
        await _until_told(client, partial(increase, client, "g", 1))
        await client.sleep(12_000, "grown again")
        await _until_told(client, partial(delete_nodes, client, "g", ("g-2",)))


def moving_group(
    world: World,
    controller: type[CloudController] = CloudController,
    machine: type[Machine] = Machine,
) -> None:
    """Assemble the World with such a controller and such machines, and claim what must hold."""
    world.serve(ApiServer)
    template = Node.of("any", cpu_m=4000)
    group = NodeGroup("g", max_size=2, target=1, template=template, boots=BOOTS)
    join_cloud(world, group, machine=machine, controller=controller)
    world.add(Pod.of("p", node_name="g-1"), Pod.of("q", node_name="g-1", grace_s=60))
    world.start(GroupOwner("owner"))
    world.limit(virtual_ms_max=600_000)
    world.claim(*cloud_claims())


async def _until_told(client: Client, ask: Callable[[], Awaitable[Any]]) -> None:
    """Ask until there is an answer that another try cannot change. A try without an answer may have
    taken effect."""
    while True:
        try:
            await ask()
        except (Invalid, NotFound):
            return
        except ApiError:
            await client.sleep(1000, "retry")
            continue
        return
