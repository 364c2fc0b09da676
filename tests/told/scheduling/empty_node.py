"""Empty node: a disruption controller finds a node empty, and a pod is placed there before that is
carried out (kubernetes-sigs/karpenter#2916)."""

from __future__ import annotations

from typing import Any

import attrs

from actors.apiserver import ApiServer
from actors.shared.user import User
from actors.shared.verbs import bind
from testbed import Actor, ApiError, Cache, Client, Evidence, World, always
from testbed.objects import ConfigMap, Map, Node, Pod
from tests.never_rest.frame import WorkQueue
from tests.told.frame import Told

VALIDATE_MS = 15_000


@attrs.frozen
class Disruption(Actor):
    """Orders that an empty node goes: it looks, waits for fifteen seconds, and orders it. With
    `guard` it looks again before it orders, and taints the node before it looks."""

    guard: bool

    async def run(self, client: Client) -> None:
        """Once, after ten seconds."""
        await client.sleep(10_000, "look")
        if self.guard:
            await client.patch(Node("n1"), {"spec": {"unschedulable": True}})
        if await self._is_empty(client):
            await client.sleep(VALIDATE_MS, "validate")
            if not self.guard or await self._is_empty(client):
                await client.create(ConfigMap("order", data=Map(node="n1")))

    async def _is_empty(self, client: Client) -> bool:
        return not any(pod.spec.node_name == "n1" for pod in (await client.list(Pod)).items)


class Terminator(Actor):
    """Deletes the node of each order."""

    async def run(self, client: Client) -> None:
        """As soon as it hears of one."""
        orders, queue = Cache(client, ConfigMap), WorkQueue(client)
        queue.follow(orders)

        async def reconcile(name: str) -> None:
            order = orders.get(name)
            if order is not None:
                await client.delete(Node(order.data["node"]), whatever_it_was=True)

        await queue.work(reconcile)


class Scheduler(Actor):
    """Binds each pod to n1, unless that is cordoned."""

    async def run(self, client: Client) -> None:
        """When a pod comes."""
        pods, nodes, queue = Cache(client, Pod), Cache(client, Node), WorkQueue(client)
        queue.follow(pods)

        async def reconcile(name: str) -> None:
            pod, node = pods.get(name), (await client.list(Node)).items
            if pod is not None and not pod.is_bound and node and not node[0].spec.unschedulable:
                try:
                    await bind(client, pod, nodes.all()[0].meta.name)
                except ApiError:
                    return

        await queue.work(reconcile)


def no_node_goes_with_its_pods(see: Evidence) -> str | None:
    """A node that is deleted has no pods."""
    for change in see.changes:
        if isinstance(change.before, Node) and change.after is None:
            for entry in see.store.snapshot("pods/"):
                pod: Any = entry.value
                if pod.spec.node_name == change.before.meta.name:
                    return f"{change.key} was deleted with {pod.key} on it"
    return None


def empty_node(world: World, *, guard: bool = False) -> None:
    """A pod comes between the look at a node and its end."""
    world.serve(ApiServer)
    world.add(Node.of("n1", cpu_m=1000))
    world.start(Disruption("disruption", guard), Terminator("terminator"), Scheduler("scheduler"))
    world.start(User("ann", ((12_000, Pod.of("web", cpu_m=100)),)))
    world.claim(always(no_node_goes_with_its_pods))


TRUE = Told(
    empty_node,
    actor="disruption",
    made_so="scheduler",
    about=("configmaps/default/order", "nodes/n1"),
    words=("pods/default/web",),
    never=("^terminator", "^ann", "^scheduler"),
    said=(
        "disruption ordered in configmaps/default/order that nodes/n1 goes, believing that it"
        " was empty, as it listed at rv 2; false since scheduler bound pods/default/web to it"
        " at rv 4."
    ),
)
