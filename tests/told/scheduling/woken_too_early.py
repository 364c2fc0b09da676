"""Woken too early: the news of a node wakes a scheduler before it reaches the memory by which that
decides; the pod is parked again, and nothing wakes it any more (kubernetes/kubernetes#93552)."""

from __future__ import annotations

from typing import Any

import attrs

from actors.apiserver import ApiServer
from actors.shared.user import User
from actors.shared.verbs import bind
from testbed import Actor, Cache, Client, Evidence, World, quiescent
from testbed.objects import Node, Pod
from tests.told.frame import Told


@attrs.frozen
class Scheduler(Actor):
    """Binds a pod to a node that it remembers; a pod that fits nowhere waits for news of a node.
    Another task moves such news into the memory. With `guard` that task also wakes the queue."""

    guard: bool

    async def run(self, client: Client) -> None:
        """Try a pod when it comes, and when there is news of a node."""
        pods, nodes = Cache(client, Pod), Cache(client, Node)
        memory: set[str] = set()
        wake, news = client.queue("wake", idle=True), client.queue("news", idle=True)

        def node_came(node: Node) -> None:
            news.put(node)
            if not self.guard:
                wake.put(node)

        async def remember() -> None:
            while True:
                node = await news.get()
                await client.get(Node, node.meta.name)  # its volumes, and what else it has
                memory.add(node.meta.name)
                if self.guard:
                    wake.put(node)

        nodes.on(add=node_came)
        pods.on(add=wake.put)
        client.spawn("memory", remember)
        while True:
            await wake.get()
            for pod in pods.all():
                if not pod.is_bound and memory:
                    await bind(client, pod, min(memory))
                elif not pod.is_bound:
                    client.record("parks", pod=pod.key)


def web_gets_a_node(see: Evidence) -> str | None:
    """In the end the pod is placed: there is a node."""
    web: Any = see.store.peek("pods/default/web")
    if web is not None and not web.value.is_bound and see.store.peek("nodes/n1") is not None:
        return "pods/default/web is unschedulable, though n1 is there"
    return None


def woken_too_early(world: World, *, guard: bool = False) -> None:
    """A node comes for a pod that waits."""
    world.serve(ApiServer)
    world.start(Scheduler("scheduler", guard))
    node, pod = Node.of("n1", cpu_m=1000), Pod.of("web", cpu_m=100)
    world.start(User("ann", ((1_000, pod), (2_000, node))))
    world.claim(quiescent(web_gets_a_node))


TRUE = Told(
    woken_too_early,
    actor="scheduler",
    about="pods/default/web",
    words=("n1", "memory", "woken", "guard", "before"),
    did=("park", "never", "did not", "not bound", "waits"),
    never=("^ann", "ann created"),
    said=(
        "scheduler was woken for pods/default/web by the news of n1 before that was in its "
        "memory, parked it again, and never tried it any more."
    ),
)
