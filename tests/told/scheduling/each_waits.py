"""Each waits: a scheduler waits for a node, since a pod fits nowhere; an autoscaler adds none,
since by its own rule the pod fits (kubernetes/autoscaler#1627)."""

from __future__ import annotations

from typing import Any

import attrs

from actors.apiserver import ApiServer
from actors.shared.user import User
from actors.shared.verbs import bind
from testbed import Actor, ApiError, Cache, Client, Evidence, World, quiescent
from testbed.objects import Node, Pod, requests_of, room_of
from tests.told.frame import Told

DAEMON_M = 300
"""What a daemon takes of each node, which is no pod."""


@attrs.frozen
class Looker(Actor):
    """What both have in common: a look every ten seconds at pods without a node."""

    counts_daemon: bool

    def fits(self, pod: Pod, node: Node, pods: list[Pod]) -> bool:
        """Whether the pod fits there, by its own rule."""
        there = sum(requests_of(p)["cpu"] for p in pods if p.spec.node_name == node.meta.name)
        free = room_of(node)["cpu"] - there - DAEMON_M * self.counts_daemon
        return requests_of(pod)["cpu"] <= free

    async def run(self, client: Client) -> None:
        """Look for ever."""
        pods, nodes = Cache(client, Pod), Cache(client, Node)
        await pods.synced()
        await nodes.synced()
        while True:
            await client.sleep(10_000, "look")
            for pod in pods.all():
                if not pod.is_bound:
                    known = pods.all()
                    fitting = [node for node in nodes.all() if self.fits(pod, node, known)]
                    await self.act(client, pod, fitting, len(nodes.all()))

    async def act(self, client: Client, pod: Pod, fitting: list[Node], count: int) -> None:
        """What it does about that pod."""


class Scheduler(Looker):
    """Binds a pod where it fits."""

    async def act(self, client: Client, pod: Pod, fitting: list[Node], count: int) -> None:
        """Bind it."""
        if fitting:
            try:
                await bind(client, pod, fitting[0].meta.name)
            except ApiError:
                return
        else:
            client.record("found no node", pod=pod.key)


class Autoscaler(Looker):
    """Adds a node for a pod that fits nowhere."""

    async def act(self, client: Client, pod: Pod, fitting: list[Node], count: int) -> None:
        """Add one."""
        if not fitting and count < 3:
            try:
                await client.create(Node.of(f"n{count + 1}", cpu_m=1000))
            except ApiError:
                return
        elif fitting:
            client.record("adds no node", pod=pod.key, since=f"it fits on {fitting[0].meta.name}")


def large_is_placed(see: Evidence) -> str | None:
    """In the end the pod has a node."""
    pod: Any = see.store.peek("pods/default/large")
    if pod is not None and not pod.value.is_bound:
        return "pods/default/large has no node, and no node is added"
    return None


def each_waits(world: World, *, guard: bool = False) -> None:
    """A pod that fits by one rule and not by the other; guarded, both count the daemon."""
    world.serve(ApiServer)
    world.add(Node.of("n1", cpu_m=1000), Pod.of("small", cpu_m=200, node_name="n1"))
    world.start(Scheduler("scheduler", True), Autoscaler("autoscaler", guard))
    world.start(User("ann", ((1_000, Pod.of("large", cpu_m=600)),)))
    world.claim(quiescent(large_is_placed))
    world.limit(until_ms=60_000, lateness_ms=5_000)


TRUE = Told(
    each_waits,
    actor=("scheduler", "autoscaler"),
    about="pods/default/large",
    words=("fits", "no node", "counts_daemon", "room", "daemon"),
    never=("^ann", "ann created"),
    said=(
        "scheduler finds no node for pods/default/large, and autoscaler adds none: by its "
        "rule, without the daemon, the pod fits on n1; so each waits for the other."
    ),
)
