"""Two schedulers, each right by its own cache, bind two pods to the last place on a node."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from typing import Any

import attrs

from actors.apiserver import ApiServer
from actors.kubelet import Kubelet, Runtime
from actors.shared.retries import until_told
from actors.shared.verbs import bind
from testbed import Actor, ApiError, Cache, Client, Evidence, Found, Selector, World, always
from testbed.objects import Node, Pod, requests_of, room_of
from testbed.objects.labels import parse

READS = ("spec",)
"""The fields of a pod that a scheduler reads."""
POOL = "pool"
"""The label that says which scheduler a node is for."""
RETRY_MS = 1000
"""How long a scheduler waits before it tries a pod again."""


def asked_m(pod: Pod) -> int:
    """The cpu that a pod asks for."""
    return requests_of(pod).get("cpu", 0)


def taken_m(node: Node, pods: Iterable[Pod]) -> int:
    """The cpu that the pods on a node ask for."""
    return sum(asked_m(pod) for pod in pods if pod.spec.node_name == node.meta.name)


@attrs.frozen
class Scheduler(Actor):
    """Binds each new pod that names it to the first node with room for it, by its cache of pods."""

    shares_memory = False

    pool: str = ""
    """The label of the nodes that it binds to; empty: all nodes."""

    async def run(self, client: Client) -> None:
        mine = Selector(labels=parse(f"{POOL}={self.pool}" if self.pool else ""))
        listing = await until_told(client, lambda: client.list(Node, mine), why="retry nodes")
        nodes = listing.items
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
        """Whether it was told that the pod is bound; if not, it tries again later."""
        try:
            await bind(client, pod, node.meta.name)
        except ApiError:
            return False
        return True


def no_node_is_overcommitted(see: Evidence) -> Found | None:
    """Every node has the cpu that its pods ask for, those that are over aside."""
    found: list[Any] = [entry.value for entry in see.store.snapshot("pods/")]
    pods = [pod for pod in found if not pod.is_over]
    for entry in see.store.snapshot("nodes/"):
        node: Any = entry.value
        taken, has = taken_m(node, pods), room_of(node)["cpu"]
        if taken > has:
            text = f"{node.meta.name} has {has}m cpu, and its pods ask for {taken}m"
            return Found(text, reason="too many")
    return None


def double_bind(world: World, *, guard: bool = False, kubelet: bool = False) -> None:
    """Two schedulers race for the last place on a node; the bind itself checks only the pod.

    Guarded, each scheduler has nodes of its own, as operators arrange it. With a kubelet the Run
    goes on after the race, until the kubelet rejects one of the pods.

    Cause: each scheduler counts by its own cache, and the API server checks a bind against the pod
      alone, not against the node.
    Look for: alpha binds c by a list in which d is on no node, after beta has bound d.
    Source: kubernetes#72043; the article "QoS, Node allocatable and the Kubernetes Scheduler".
    Tags: several-schedulers, stale-cache, check-then-act.
    """
    world.serve(ApiServer)
    world.add(Node.of("n1", cpu_m=1000, labels={POOL: "alpha"}))
    for pod, name in (("c", "alpha"), ("d", "beta")):
        world.add(Pod.of(pod, cpu_m=800, scheduler_name=name))
        world.start(Scheduler(name, pool=name if guard else ""))
    if guard:
        world.add(Node.of("n2", cpu_m=1000, labels={POOL: "beta"}))
    for node in ("n1", "n2") if kubelet else ():
        world.serve(partial(Runtime, node=node))
        world.start(Kubelet(f"kubelet-{node}", node))
    world.goes_on = kubelet
    reads = ("log:pods.spec", "log:pods.status.phase", "log:nodes.status")
    world.claim(always(no_node_is_overcommitted, reads=reads))
