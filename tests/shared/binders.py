"""Two schedulers and one room: what the stories of stale Caches are told of."""

from __future__ import annotations

from typing import Any

import attrs

from testbed.client.actor import Actor
from testbed.client.cache import Cache
from testbed.client.client import Client
from testbed.errors import ApiError, NotFound
from testbed.invariant import Evidence, always
from testbed.objects import Node, Pod
from testbed.store.endpoint import Handler, Operation
from testbed.store.store_endpoint import StoreEndpoint
from testbed.world.world import World


class Bindery(StoreEndpoint):
    """The Store's own Endpoint, which also knows how a pod is bound."""

    def handle(self, operation: Operation, caller: str, now_ms: int) -> Handler:
        if operation.subresource == "binding":
            return self._bind(operation)
        return super().handle(operation, caller, now_ms)

    def _bind(self, operation: Operation) -> Handler:
        entry = self.store.get(operation.key)
        if entry is None:
            raise NotFound(f"{operation.key} not found")
        pod: Any = entry.value
        spec = attrs.evolve(pod.spec, node_name=operation.body)
        new = self._revised(attrs.evolve(pod, spec=spec), pod)
        self.store.put(new.key, new)
        return new
        yield


@attrs.frozen
class Binder(Actor):
    """Binds its own pods, one after the other, to the first node that seems to have room."""

    async def run(self, client: Client) -> None:
        nodes, pods = Cache(client, Node), Cache(client, Pod)
        mine = client.queue("mine", idle=True)

        def added(pod: Pod) -> None:
            if pod.spec.scheduler_name == self.name:
                mine.put(pod.meta.name)

        pods.on(add=added)
        await nodes.synced()
        await pods.synced()
        while True:
            name = await mine.get()
            taken = {pod.spec.node_name for pod in pods.all()}
            free = [node.meta.name for node in nodes.all() if node.meta.name not in taken]
            if free:
                bind = Operation("create", "pods", name, "default", free[0], subresource="binding")
                try:
                    await client.ask(bind)
                except ApiError:
                    continue


def no_node_holds_two(see: Evidence) -> str | None:
    """A node has room for one pod."""
    pods: dict[str, list[str]] = {}
    for entry in see.store.snapshot("pods/"):
        pod: Any = entry.value
        if pod.spec.node_name:
            pods.setdefault(pod.spec.node_name, []).append(pod.meta.name)
    for node, names in sorted(pods.items()):
        if len(names) > 1:
            return f"node {node} has room for one pod and holds {' and '.join(names)}"
    return None


def two_binders(world: World, *, names: str = "alpha beta") -> None:
    """Each scheduler has a pod of its own; there is room for one of them."""
    world.serve(Bindery)
    world.add(Node("n1"))
    for name, pod in zip(names.split(), ("web", "api", "job", "log"), strict=False):
        spec = attrs.evolve(Pod("x").spec, scheduler_name=name)
        world.add(Pod(pod, spec=spec))
        world.start(Binder(name))
    world.claim(always(no_node_holds_two))
