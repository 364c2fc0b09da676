"""Old volume: a pod and its claim are made anew; a scheduler hears of the new pod first, and goes
by the node of the old claim, which has the same name (kubernetes/kubernetes#128164)."""

from __future__ import annotations

from typing import Any

import attrs

from actors.apiserver import ApiServer
from actors.shared.verbs import bind
from testbed import Actor, ApiError, Cache, Client, Evidence, World, always
from testbed.objects import ConfigMap, Map, Node, Pod
from tests.told.frame import Told


@attrs.frozen
class Scheduler(Actor):
    """Binds each pod to the node of its claim (here a ConfigMap). With `guard` it asks the API
    server for the claim."""

    guard: bool

    async def run(self, client: Client) -> None:
        """When a pod comes."""
        claims, pods = Cache(client, ConfigMap), Cache(client, Pod)
        await claims.synced()
        queue = client.queue("pods", idle=True)
        pods.on(add=queue.put)
        while True:
            pod = await queue.get()
            claim = claims.get("data-0")
            try:
                if self.guard:
                    claim = await client.get(ConfigMap, "data-0")
                if claim is not None and not pod.is_bound:
                    await bind(client, pod, claim.data["node"])
            except ApiError:
                continue


class StatefulSet(Actor):
    """Makes the claim and the pod anew, on another node."""

    async def run(self, client: Client) -> None:
        """After a second."""
        await client.sleep(1_000, "make anew")
        await client.delete(Pod("db-0"), whatever_it_was=True)
        await client.delete(ConfigMap("data-0"), whatever_it_was=True)
        await client.create(ConfigMap("data-0", data=Map(node="n2")))
        await client.create(Pod.of("db-0", cpu_m=100, grace_s=0))


def the_pod_is_with_its_volume(see: Evidence) -> str | None:
    """A pod that is bound is on the node of its claim."""
    pod: Any = see.store.peek("pods/default/db-0")
    claim: Any = see.store.peek("configmaps/default/data-0")
    if pod is None or claim is None or not pod.value.is_bound:
        return None
    there, wants = pod.value.spec.node_name, claim.value.data["node"]
    return f"db-0 is on {there}, and its volume is on {wants}" if there != wants else None


def old_volume(world: World, *, guard: bool = False) -> None:
    """Two kinds come by two watches, and names are used again."""
    world.serve(ApiServer)
    world.add(Node.of("n1", cpu_m=1000), Node.of("n2", cpu_m=1000))
    world.add(ConfigMap("data-0", data=Map(node="n1")))
    world.add(Pod.of("db-0", cpu_m=100, node_name="n1", grace_s=0))
    world.start(Scheduler("scheduler", guard), StatefulSet("statefulset"))
    world.claim(always(the_pod_is_with_its_volume))


TRUE = Told(
    old_volume,
    race="""
holds:
  - hold: delivery of configmaps/default/data-0 to scheduler
    until: scheduler bind pods/default/db-0
""",
    actor="scheduler",
    made_so="statefulset",
    about="pods/default/db-0",
    did=("bound",),
    words=("configmaps/default/data-0", "data-0"),
    said=(
        "scheduler bound pods/default/db-0 to n1, believing that configmaps/default/data-0 "
        "was on n1, as it listed; false since statefulset made that anew on n2."
    ),
)
