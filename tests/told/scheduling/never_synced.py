"""Never synced: a provisioner notes a new node in its memory when its create is answered; the node
is gone by then, and its entry stays for ever (kubernetes-sigs/karpenter#3176)."""

from __future__ import annotations

import attrs

from actors.apiserver import ApiServer
from testbed import Actor, Cache, Client, Evidence, World, quiescent
from testbed.objects import Node
from tests.told.frame import Told


@attrs.frozen
class Provisioner(Actor):
    """Makes a node for each request, but only while it knows the state of all that it has made.
    With `guard` it notes a node before it asks for it."""

    guard: bool
    requests: int = 2

    async def run(self, client: Client) -> None:
        """One request after another, every ten seconds."""
        nodes = Cache(client, Node)
        unseen: set[str] = set()

        def told(node: Node) -> None:
            unseen.discard(node.meta.name)

        nodes.on(add=told, delete=told)
        await nodes.synced()
        made = 0
        while made < self.requests:
            await client.sleep(10_000, "batch")
            if unseen:
                continue
            made += 1
            name = f"claim-{made}"
            if self.guard:
                unseen.add(name)
            await client.create(Node.of(name, cpu_m=1000))
            if not self.guard:
                unseen.add(name)


class Operator(Actor):
    """Deletes the first node as soon as it is there."""

    async def run(self, client: Client) -> None:
        """Once."""
        nodes, queue = Cache(client, Node), client.queue("nodes", idle=True)
        nodes.on(add=queue.put)
        await client.delete(await queue.get(), whatever_it_was=True)


def the_second_request_is_met(see: Evidence) -> str | None:
    """In the end there is a node for the second request."""
    if see.store.peek("nodes/claim-2") is None:
        return "there is no nodes/claim-2, and nothing will make it"
    return None


def never_synced(world: World, *, guard: bool = False) -> None:
    """A node is deleted before the answer to its create has come."""
    world.serve(ApiServer)
    world.start(Provisioner("provisioner", guard), Operator("operator"))
    world.claim(quiescent(the_second_request_is_met))


TRUE = Told(
    never_synced,
    race="""
holds:
  - hold: answer to provisioner create nodes/claim-1
    until: delivery of DELETED nodes/claim-1 to provisioner
""",
    actor="provisioner",
    about=("nodes/claim-1", "nodes/claim-2"),
    words=("answer", "before", "synced", "deleted"),
    did=("waits", "never", "did not", "not create", "missing"),
    never=("^operator",),
    said=(
        "provisioner never created nodes/claim-2: it waits for nodes/claim-1, since the "
        "answer to that create came only after the news that claim-1 was deleted."
    ),
)
