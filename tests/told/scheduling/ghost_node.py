"""Ghost node: a scheduler lists nodes, then pods, and watches from there on; a node that was
deleted between the two stays in its memory for ever (kubernetes/kubernetes#94437)."""

from __future__ import annotations

from typing import Any

import attrs

from actors.apiserver import ApiServer
from actors.shared.user import User
from actors.shared.verbs import bind
from testbed import Actor, ApiError, Client, Evidence, World, quiescent
from testbed.objects import Node, Pod
from tests.told.frame import Told


@attrs.frozen
class Scheduler(Actor):
    """Binds each pod to the first node that it knows. With `guard` it watches nodes from where it
    has listed them; without, from its last list."""

    guard: bool

    async def run(self, client: Client) -> None:
        """List, and follow."""
        listed = await client.list(Node)
        nodes = {node.meta.name for node in listed.items}
        pods = await client.list(Pod)
        since = listed.revision if self.guard else pods.revision
        client.spawn("nodes", self._follow, client, nodes, since)
        stream = await client.watch(Pod, pods.revision)
        while True:
            pod: Any = (await stream.next()).object
            if isinstance(pod, Pod) and not pod.is_bound and nodes:
                try:
                    await bind(client, pod, min(nodes))
                except ApiError:
                    continue

    async def _follow(self, client: Client, nodes: set[str], since: Any) -> None:
        stream = await client.watch(Node, since)
        while True:
            delivery = await stream.next()
            if delivery.type == "DELETED":
                nodes.discard(delivery.key.rpartition("/")[2])


class Ann(Actor):
    """Takes a node out of the cluster."""

    async def run(self, client: Client) -> None:
        """After a second."""
        await client.sleep(1_000, "take out")
        await client.delete(Node("n1"), whatever_it_was=True)


def pods_are_on_nodes(see: Evidence) -> str | None:
    """In the end no pod is bound to a node that is not there."""
    for entry in see.store.snapshot("pods/"):
        pod: Any = entry.value
        if pod.is_bound and see.store.peek(f"nodes/{pod.spec.node_name}") is None:
            return f"{pod.key} is bound to {pod.spec.node_name}, which does not exist"
    return None


def ghost_node(world: World, *, guard: bool = False) -> None:
    """A node goes while a scheduler starts."""
    world.serve(ApiServer)
    world.add(Node.of("n1", cpu_m=1000), Node.of("n2", cpu_m=1000))
    world.start(Scheduler("scheduler", guard), Ann("ann"))
    world.start(User("ben", ((5_000, Pod.of("web", cpu_m=100)),)))
    world.claim(quiescent(pods_are_on_nodes))
    world.limit(lateness_ms=2_000)


TRUE = Told(
    ghost_node,
    race="""
holds:
  - hold: scheduler list pods
    until: ann delete nodes/n1
""",
    actor="scheduler",
    made_so="ann",
    about="pods/default/web",
    did=("bound", "bind"),
    words=(r"nodes/n1",),
    never=("^ann", "^ben"),
    said=(
        "scheduler bound pods/default/web to n1, believing that nodes/n1 was there, as it "
        "listed at rv 2; ann deleted it at rv 4, before scheduler's watch began."
    ),
)
