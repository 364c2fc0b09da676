"""Heartbeats: an agent renews a node's heartbeat for ever, and a monitor taints what seems dead."""

from __future__ import annotations

import attrs

from actors.apiserver import ApiServer
from testbed import Actor, Cache, Client, Evidence, World, always
from testbed.objects import Node, Taint
from tests.never_rest.frame import WorkQueue

BEAT = "example.com/heartbeat"
BEAT_MS, GRACE_MS, RESYNC_MS = 10_000, 25_000, 5_000


@attrs.frozen
class Agent(Actor):
    """Writes into its node when it was last alive."""

    node: str

    async def run(self, client: Client) -> None:
        """Beat for ever."""
        while True:
            at = {"metadata": {"annotations": {BEAT: str(client.now())}}}
            await client.patch(Node(self.node), at)
            await client.sleep(BEAT_MS, "beat")


@attrs.frozen
class Monitor(Actor):
    """Taints a node whose heartbeat is too old. With `guard` it goes by the node as it is now, and
    not by its informer, and writes only if the node is still that one."""

    guard: bool

    async def run(self, client: Client) -> None:
        """Look at each node when it changes, and at all every few seconds."""
        nodes, queue = Cache(client, Node), WorkQueue(client)
        queue.follow(nodes)
        client.spawn("resync", queue.resync, nodes, RESYNC_MS)

        async def reconcile(name: str) -> None:
            node = nodes.get(name)
            if node is None or node.spec.taints or not is_stale(node, client.now()):
                return
            if self.guard:
                node = await client.get(Node, name)
                if not is_stale(node, client.now()):
                    return
            spec = attrs.evolve(node.spec, taints=(Taint("unreachable", "", "NoExecute"),))
            await client.update(attrs.evolve(node, spec=spec), whatever_it_was=not self.guard)

        await queue.work(reconcile)


def is_stale(node: Node, now_ms: int) -> bool:
    """Whether it was not heard of for too long."""
    return now_ms - int(node.meta.annotations.get(BEAT, "0")) > GRACE_MS


def only_the_dead_are_tainted(see: Evidence) -> str | None:
    """A node that is tainted had not beaten for the grace period."""
    for change in see.changes:
        node, old = change.after, change.before
        if not isinstance(node, Node) or not isinstance(old, Node) or old.spec.taints:
            continue
        beat = int(old.meta.annotations.get(BEAT, "0"))
        if node.spec.taints and see.now_ms - beat <= GRACE_MS:
            return f"{node.key} was tainted {see.now_ms - beat} ms after its heartbeat"
    return None


def heartbeats(world: World, *, guard: bool = False) -> None:
    """A monitor taints a node whose informer is late, though the node beats."""
    world.serve(ApiServer)
    world.add(Node.of("n1", cpu_m=1000))
    world.start(Agent("agent", "n1"), Monitor("monitor", guard))
    world.claim(always(only_the_dead_are_tainted))
    world.limit(until_ms=60_000)
