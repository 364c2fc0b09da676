"""Equal endpoints: a controller compares with the endpoints in its informer, finds them as they
should be, and writes nothing; its last write has not come back (kubernetes/kubernetes#127429)."""

from __future__ import annotations

from typing import Any

import attrs

from actors.apiserver import ApiServer
from testbed import Actor, Cache, Client, Evidence, World, quiescent
from testbed.objects import ConfigMap, Map, Note
from tests.never_rest.frame import WorkQueue
from tests.told.frame import Told


@attrs.frozen
class EndpointsController(Actor):
    """Writes into the endpoints (a ConfigMap) whether the pod (a Note) is ready. With `guard` it
    looks again when the endpoints change, too."""

    guard: bool

    async def run(self, client: Client) -> None:
        """Look at a pod when it changes."""
        pods, endpoints = Cache(client, Note), Cache(client, ConfigMap)
        queue = WorkQueue(client)
        queue.follow(pods)
        if self.guard:
            queue.follow(endpoints)
        await pods.synced()
        await endpoints.synced()

        async def reconcile(name: str) -> None:
            pod, found = pods.get(name), endpoints.get(name)
            if pod is None or found is None or found.data["ready"] == pod.data["ready"]:
                return
            await client.update(attrs.evolve(found, data=Map(ready=pod.data["ready"])))

        await queue.work(reconcile)


class Kubelet(Actor):
    """Its probe fails once, and then succeeds again."""

    async def run(self, client: Client) -> None:
        """After one second, and after two."""
        for ready in ("no", "yes"):
            await client.sleep(1_000, "probe")
            await client.patch(Note("web"), {"data": {"ready": ready}})


def a_ready_pod_is_served(see: Evidence) -> str | None:
    """In the end the endpoints have what is ready."""
    pod: Any = see.store.peek("notes/default/web")
    endpoints: Any = see.store.peek("configmaps/default/web")
    if pod.value.data["ready"] != endpoints.value.data["ready"]:
        return f"{pod.key} is ready, and {endpoints.key} leaves it out"
    return None


def equal_endpoints(world: World, *, guard: bool = False) -> None:
    """A pod is ready again before the controller hears of its own write."""
    world.serve(ApiServer)
    world.add(Note("web").saying(ready="yes"), ConfigMap("web", data=Map(ready="yes")))
    world.start(EndpointsController("endpoints-controller", guard), Kubelet("kubelet"))
    world.claim(quiescent(a_ready_pod_is_served))


TRUE = Told(
    equal_endpoints,
    race="""
holds:
  - hold: delivery of configmaps/default/web to endpoints-controller
    until: 5s
""",
    actor="endpoints-controller",
    about=("configmaps/default/web",),
    words=("Cache", "believing", "not yet", "had not been told", "its own", "was late"),
    did=("never", "did not", "wrote nothing", "left", "no more"),
    never=("^kubelet",),
    said=(
        "endpoints-controller did not update configmaps/default/web when kubelet made the pod "
        "ready again, believing that it said ready=yes still: its Cache did not show its own "
        "update to no."
    ),
)

ALSO = (
    TRUE.also(
        "sought",
        """
holds:
  - hold: delivery of configmaps/default/web to endpoints-controller
    until: turn of endpoints-controller/main#5
""",
        "endpoints-controller did not update configmaps/default/web: the news that the pod "
        "is ready came before that of its own update to no, so both seemed equal.",
        words=("before", "only after", "its own", "believing"),
    ),
)
