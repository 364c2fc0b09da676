"""Two schedulers, each right by its own cache, bind two pods to the last place on a node."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import attrs

from testbed import (
    Actor,
    Cache,
    Client,
    Conflict,
    Evidence,
    Operation,
    StoreEndpoint,
    Unavailable,
    World,
    always,
)
from testbed.objects import Node, Pod, requests_of, room_of

READS = ("spec",)
"""What of a pod a scheduler goes by."""
RETRY_MS = 1000
"""How long a pod that could not be bound is left alone."""


def asked_m(pod: Pod) -> int:
    """The cpu that a pod asks for."""
    return requests_of(pod).get("cpu", 0)


def taken_m(node: Node, pods: Iterable[Pod]) -> int:
    """The cpu that those of these pods ask for which are bound to the node."""
    return sum(asked_m(pod) for pod in pods if pod.spec.node_name == node.meta.name)


@attrs.frozen
class Scheduler(Actor):
    """Binds each new pod that names it to the first node with room for it, by its cache of pods."""

    shares_memory = False

    async def run(self, client: Client) -> None:
        nodes = (await client.list(Node)).items
        todo = client.queue("todo", idle=True)

        def added(pod: Pod) -> None:
            if pod.spec.scheduler_name == self.name and not pod.spec.node_name:
                todo.put(pod.meta.name)

        pods = Cache(client, Pod, reads=READS)
        pods.on(add=added)
        while True:
            name = await todo.get()
            pod = pods.get(name)
            if pod is None or pod.spec.node_name:
                continue
            for node in nodes:
                if taken_m(node, pods.all()) + asked_m(pod) <= room_of(node)["cpu"]:
                    if not await self.bind(client, pod, node):
                        await client.sleep(RETRY_MS, f"retry {pod.key}")
                        todo.put(name)
                    break

    async def bind(self, client: Client, pod: Pod, node: Node) -> bool:
        """Whether it was told that the pod is bound; otherwise it looks again later."""
        meta = pod.meta
        bind = Operation(
            "create", pod.plural, meta.name, meta.namespace, node.meta.name, subresource="binding"
        )
        try:
            await client.ask(bind)
        except (Conflict, Unavailable):
            return False
        return True


class Desk(StoreEndpoint):
    """Answers a bind, too: it sets the pod's node, if the pod has none yet."""

    def __init__(self, store: Any, *, guard: bool) -> None:
        super().__init__(store)
        self.guard = guard
        """Whether it counts, in the same commit, what the node has room for."""

    def handle(self, operation: Operation, caller: str, now_ms: int) -> Any:
        if operation.subresource != "binding":
            return super().handle(operation, caller, now_ms)
        return self._bind(operation, caller, now_ms)

    def _bind(self, operation: Operation, caller: str, now_ms: int) -> Any:
        def ask(verb: str, *about: Any) -> Any:
            return super(Desk, self).handle(Operation(verb, *about), caller, now_ms)

        name, namespace, target = operation.name, operation.namespace, operation.body
        pod = yield from ask("get", "pods", name, namespace)
        if pod.spec.node_name:
            raise Conflict(f"pod {name} is already assigned to node {pod.spec.node_name!r}")
        if self.guard:
            node = yield from ask("get", "nodes", target)
            pods = yield from ask("list", "pods")
            if taken_m(node, pods.items) + asked_m(pod) > room_of(node)["cpu"]:
                raise Conflict(f"node {target} has no room for pod {name}")
        spec = attrs.evolve(pod.spec, node_name=target)
        yield from ask("update", "pods", name, namespace, attrs.evolve(pod, spec=spec))

    def may(self, operation: Operation, caller: str = "") -> Any:
        may = super().may(operation, caller)
        if operation.subresource != "binding" or not self.guard:
            return may
        node = Operation("get", "nodes", operation.body)
        return may | super().may(node) | super().may(Operation("list", "pods"))


def no_node_is_overcommitted(see: Evidence) -> str | None:
    """What a node's pods ask for, it has."""
    pods: list[Any] = [entry.value for entry in see.store.snapshot("pods/")]
    for entry in see.store.snapshot("nodes/"):
        node: Any = entry.value
        taken, has = taken_m(node, pods), room_of(node)["cpu"]
        if taken > has:
            return f"{node.meta.name} has {has}m cpu, and its pods ask for {taken}m"
    return None


def double_bind(world: World, *, guard: bool = False) -> None:
    """Two schedulers race for the last place on a node; the bind itself checks only the pod."""
    world.serve(lambda store: Desk(store, guard=guard))
    world.add(Node.of("n1", cpu_m=1000))
    world.add(Pod.of("c", cpu_m=800, scheduler_name="alpha"))
    world.add(Pod.of("d", cpu_m=800, scheduler_name="beta"))
    world.start(Scheduler("alpha"), Scheduler("beta"))
    reads = ("log:pods.spec", "log:nodes.status")
    world.claim(always(no_node_is_overcommitted, reads=reads))
