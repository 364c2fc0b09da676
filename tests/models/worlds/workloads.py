"""Workloads to play with: objects of few words, a stand-in for nodes, and what can be seen."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import attrs

from actors.apiserver import ApiServer
from testbed import Actor, ApiError, Cache, Client
from testbed.objects import (
    Deployment,
    DeploymentSpec,
    LabelSelector,
    Map,
    Meta,
    Object,
    Pod,
    PodTemplate,
    RollingUpdate,
    UpdateStrategy,
)
from testbed.world.world import World
from tests.shared.stage import Doing, Puppet

LABELS = Map(app="web")
SELECTOR = LabelSelector(LABELS)


def template(version: str = "1", **spec: Any) -> PodTemplate:
    """A template; its version is a label, so that another one is another template."""
    labels = LABELS.having(version=version)
    return PodTemplate(Meta(labels=labels), Pod.of("", cpu_m=100, **spec).spec)


def deployment(
    replicas: int, surge: int | str = 1, unavailable: int | str = 0, **spec: Any
) -> Deployment:
    """A Deployment `web` with these bounds."""
    strategy = UpdateStrategy("RollingUpdate", RollingUpdate(unavailable, surge))
    given = {"selector": SELECTOR, "template": template(), "strategy": strategy, **spec}
    return Deployment("web", spec=DeploymentSpec(replicas, **given))


@attrs.frozen
class Readier(Actor):
    """Stands for nodes: lets each pod run and be ready, and ends the one that is deleted."""

    after_ms: int = 0
    """How long that takes."""
    never: str = ""
    """The version of which no pod becomes ready."""

    async def run(self, client: Client) -> None:
        todo = client.queue("todo", idle=True)
        pods = Cache(client, Pod)
        pods.on(add=todo.put, update=lambda _, new: todo.put(new))
        while True:
            pod = await todo.get()
            if self.after_ms:
                client.spawn(f"ready-{pod.meta.name}", self._later, client, pod)
            else:
                await self._stand(client, pod)

    async def _later(self, client: Client, pod: Pod) -> None:
        await client.sleep(self.after_ms, "ready")
        await self._stand(client, pod)

    async def _stand(self, client: Client, pod: Pod) -> None:
        if pod.is_ready or pod.is_over or pod.meta.labels.get("version") == self.never:
            return
        ready = {"type": "Ready", "status": "True", "lastTransitionTime": None}
        status = {"phase": "Running", "conditions": [ready]}
        try:
            await client.patch(pod, {"status": status}, subresource="status")
        except ApiError as error:
            client.record("failed", error=error.reason)


def workload_world(user: Doing, *actors: Actor, things: tuple[Object, ...] = ()) -> World:
    """A World of an API server, these actors, and a user."""
    world = World("workloads")
    world.serve(ApiServer)
    world.add(*things)
    world.start(*actors)
    world.start(Puppet("user", user))
    return world


def all_of(world: World, kind: type[Object]) -> list[Any]:
    """All objects of that kind, by name."""
    return [entry.value for entry in world.store.snapshot(f"{kind.plural}/")]


def versions(world: World) -> Mapping[str, int]:
    """How many active pods there are of each version."""
    counts: dict[str, int] = {}
    for pod in all_of(world, Pod):
        if not pod.is_over and not pod.meta.is_terminating:
            version = pod.meta.labels["version"]
            counts[version] = counts.get(version, 0) + 1
    return counts
