"""Dies of old news: a scorer looks up the node of each pod in its informer, which does not show
that node yet; it dies of a KeyError."""

from __future__ import annotations

import attrs

from actors.apiserver import ApiServer
from actors.shared.user import User
from testbed import Actor, Cache, Client, World
from testbed.objects import Node, Pod
from tests.told.frame import Told


@attrs.frozen
class Scorer(Actor):
    """Notes for each pod how large its node is. With `guard` it asks the API server for a node that
    it does not know."""

    guard: bool

    async def run(self, client: Client) -> None:
        """When a pod comes."""
        nodes, pods = Cache(client, Node), Cache(client, Pod)
        await nodes.synced()
        queue = client.queue("pods", idle=True)
        pods.on(add=queue.put)
        while True:
            pod = await queue.get()
            known = {node.meta.name: node for node in nodes.all()}
            if self.guard and pod.spec.node_name not in known:
                known[pod.spec.node_name] = await client.get(Node, pod.spec.node_name)
            client.record("scores", node=known[pod.spec.node_name].key)


def dies_of_old_news(world: World, *, guard: bool = False) -> None:
    """A pod is heard of before its node."""
    world.serve(ApiServer)
    world.start(Scorer("scorer", guard))
    node, pod = Node.of("n1", cpu_m=1000), Pod.of("web", cpu_m=100, node_name="n1")
    world.start(User("ann", ((1_000, node), (2_000, pod))))


TRUE = Told(
    dies_of_old_news,
    race="""
holds:
  - hold: delivery of nodes/n1 to scorer
    until: quiet
""",
    actor="scorer",
    about="nodes/n1",
    words=("not know", "no nodes/n1", "not heard", "late", "believ", "not show", "never saw"),
    did=("died of KeyError", "KeyError"),
    never=("^ann",),
    claim="no_actor_dies",
    said=(
        "scorer died of KeyError 'n1', not knowing of nodes/n1 yet, which pods/default/web is"
        " bound to: ann had created it at rv 2, and that news was late."
    ),
)
