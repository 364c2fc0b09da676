"""Budget twice: a disruption controller counts by its informer what is going, and spends a budget
of one twice (kubernetes-sigs/karpenter#2917)."""

from __future__ import annotations

from typing import Any

import attrs

from actors.apiserver import ApiServer
from testbed import Actor, Cache, Client, Evidence, World, always
from testbed.objects import Node
from tests.told.frame import Told

KEEPS = "karpenter.sh/termination"


@attrs.frozen
class Disruption(Actor):
    """Deletes a node in each pass that it has not deleted yet, if none is going. With `guard` it
    counts as going what it has itself deleted, too."""

    guard: bool

    async def run(self, client: Client) -> None:
        """A pass every ten seconds."""
        nodes, deleted = Cache(client, Node), set[str]()
        await nodes.synced()
        while True:
            await client.sleep(10_000, "pass")
            there = nodes.all()
            going = {node.meta.name for node in there if node.meta.is_terminating}
            if self.guard:
                going |= deleted & {node.meta.name for node in there}
            left = [node for node in there if node.meta.name not in deleted]
            if not going and len(left) > 1:
                deleted.add(left[0].meta.name)
                await client.delete(left[0], whatever_it_was=True)


class Terminator(Actor):
    """Lets a node go that was drained, which takes fifteen seconds."""

    async def run(self, client: Client) -> None:
        """Look every five seconds."""
        since: dict[str, int] = {}
        while True:
            await client.sleep(5_000, "look")
            for node in (await client.list(Node)).items:
                if node.meta.is_terminating:
                    began = since.setdefault(node.meta.name, client.now())
                    if client.now() - began >= 15_000:
                        await client.update(node.with_meta(finalizers=()))


def one_node_at_a_time(see: Evidence) -> str | None:
    """No more than one node is going at any time."""
    nodes: list[Any] = [entry.value for entry in see.store.snapshot("nodes/")]
    going = [node.key for node in nodes if node.meta.is_terminating]
    return f"the budget is 1, and {' and '.join(going)} are going" if len(going) > 1 else None


def budget_twice(world: World, *, guard: bool = False) -> None:
    """A second pass does not know yet what the first one has deleted."""
    world.serve(ApiServer)
    world.add(*(Node.of(f"n{k}", cpu_m=1000).with_meta(finalizers=(KEEPS,)) for k in (1, 2, 3)))
    world.start(Disruption("disruption", guard), Terminator("terminator"))
    world.claim(always(one_node_at_a_time))
    world.limit(until_ms=90_000)


TRUE = Told(
    budget_twice,
    race="""
holds:
  - hold: delivery of nodes/n1 to disruption
    until: disruption delete nodes/n2
""",
    actor="disruption",
    about=("nodes/n1", "nodes/n2"),
    words=("n1",),
    did=("delet", "marked"),
    never=("terminator",),
    said=(
        "disruption deleted nodes/n2 before its Cache showed its own delete of nodes/n1, so "
        "it believed that no node was going."
    ),
)

ALSO = (
    TRUE.also(
        "lag",
        """
faults:
  - lag: nodes to disruption
    at: 5s
    by: 30s
    for: 10s
""",
        "disruption deleted nodes/n2 before its Cache showed its own delete of nodes/n1, so it "
        "believed that no node was going.",
    ),
)
