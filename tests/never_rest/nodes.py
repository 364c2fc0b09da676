"""Nodes: a scale-down removes what nobody needs, and a provisioner keeps so many in reserve."""

from __future__ import annotations

import attrs

from actors.apiserver import ApiServer
from testbed import Actor, ApiError, Cache, Client, World, no_lasso
from testbed.objects import Meta, Node, Taint, number_in

LOOK_MS, UNNEEDED_S = 10_000, 20
UNNEEDED = "example.com/unneeded-since"


@attrs.frozen
class ScaleDown(Actor):
    """Taints a node that nobody needs, with the second since when, and deletes it after a while.
    With `guard` it leaves the reserve alone."""

    keeps: int

    async def run(self, client: Client) -> None:
        """Look every ten seconds."""
        nodes = Cache(client, Node)
        await nodes.synced()
        while True:
            await client.sleep(LOOK_MS, "look")
            now_s = client.now() // 1_000
            for node in nodes.all()[self.keeps :]:
                try:
                    await self._look(client, node, now_s)
                except ApiError:
                    continue

    async def _look(self, client: Client, node: Node, now_s: int) -> None:
        since = [number_in(t.value) for t in node.spec.taints if t.key == UNNEEDED]
        if not since:
            taint = Taint(UNNEEDED, str(now_s), "PreferNoSchedule")
            spec = attrs.evolve(node.spec, taints=(taint,))
            await client.update(attrs.evolve(node, spec=spec))
        elif now_s - since[0] >= UNNEEDED_S:
            await client.delete(node)


@attrs.frozen
class Provisioner(Actor):
    """Keeps three nodes."""

    async def run(self, client: Client) -> None:
        """Look every ten seconds."""
        nodes = Cache(client, Node)
        await nodes.synced()
        while True:
            await client.sleep(LOOK_MS, "look")
            if len(nodes.all()) < 3:
                await client.create(Node(Meta("", generate_name="n-")))


def nodes(world: World, *, guard: bool = False) -> None:
    """A node is added, is not needed, is removed, and is added again; guarded, three are kept."""
    world.serve(ApiServer)
    world.add(Node("a"), Node("b"), Node("c"))
    world.start(ScaleDown("scale-down", 3 if guard else 2), Provisioner("provisioner"))
    world.claim(no_lasso(named_anew=["nodes"]))
    world.limit(until_ms=120_000)
