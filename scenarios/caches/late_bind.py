"""A bind takes effect and its answer is lost: the scheduler gives the place away once more."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

import attrs

from actors.apiserver import ApiServer
from actors.kubelet import Kubelet, Runtime
from actors.scheduler import Scheduler
from actors.shared.verbs import bind
from testbed import ApiError, Client, Evidence, Found, NotFound, Unavailable, World, always
from testbed.fault import Levers, Way
from testbed.faults.lose_reply import LoseReply
from testbed.objects import Node, Pod, requests_of, room_of

NODE, SCHEDULER = "n1", "default-scheduler"
RETRY_MS = 1000


class Certain:
    """A Bind plugin that does not give up the place of a pod before it knows what became of its
    bind: while no answer comes, it asks what the Store holds, and the pod stays assumed."""

    name = "Certain"

    async def bind(self, client: Client, pod: Pod, node: str) -> None:
        """Bind a pod; an error means that it is not bound."""
        try:
            await bind(client, pod, node)
        except Unavailable:
            if not await self.is_bound(client, pod, node):
                raise

    async def is_bound(self, client: Client, pod: Pod, node: str) -> bool:
        """Whether the bind took effect after all; it asks until it gets an answer."""
        while True:
            try:
                now = await client.get(Pod, pod.meta.name, pod.meta.namespace)
            except NotFound:
                return False
            except ApiError:
                await client.sleep(RETRY_MS, f"ask for {pod.key}")
            else:
                return now.meta.uid == pod.meta.uid and now.spec.node_name == node


@attrs.frozen(kw_only=True)
class LoseBindReply(LoseReply):
    """LoseReply for binds alone, so that a search wastes no fault on requests that are retried."""

    def ways(self, levers: Levers) -> Iterator[Way]:
        for way in super().ways(levers):
            if "/binding " in way.target:
                yield way


def no_place_is_given_twice(see: Evidence) -> Found | None:
    """The node has enough cpu for the pods that are bound to it and not over."""
    node: Any = see.store.peek(f"nodes/{NODE}")
    pods: list[Any] = [entry.value for entry in see.store.snapshot("pods/")]
    here = [pod for pod in pods if pod.is_bound and not pod.is_over]
    asked, has = sum(requests_of(pod)["cpu"] for pod in here), room_of(node.value)["cpu"]
    if asked > has:
        names = " and ".join(pod.meta.name for pod in here)
        return Found(f"{NODE} has {has}m cpu, and {names} ask for {asked}m", reason="too many")
    return None


def late_bind(world: World, *, guard: bool = False, kubelet: bool = False) -> None:
    """The scheduler is told that a bind has failed that has not, and gives its place up.

    Its watch will tell it that the pod is bound. If the next pod is tried before that, it gets the
    same place. Guarded, the scheduler asks first. With a kubelet the Run goes on until the kubelet
    rejects one of the pods.

    Cause: the scheduler takes a bind that got no answer for one that failed, and forgets the pod.
    Look for: the scheduler gives up n1 for pods/default/c, although the bind of c has taken effect.
    Source: kubernetes#100140.
    Tags: stale-cache, lost-reply.
    """
    world.serve(ApiServer)
    world.add(Node.of(NODE, cpu_m=1000))
    for name in ("c", "d"):
        world.add(Pod.of(name, cpu_m=800, scheduler_name=SCHEDULER))
    world.start(Scheduler(SCHEDULER, plugins=(Certain,) if guard else ()))
    if kubelet:
        world.serve(partial(Runtime, node=NODE))
        world.start(Kubelet(f"kubelet-{NODE}", NODE))
    world.goes_on = kubelet
    world.allow(LoseBindReply(SCHEDULER))
    reads = ("log:pods.spec", "log:pods.status.phase", "log:nodes.status")
    world.claim(always(no_place_is_given_twice, reads=reads))
