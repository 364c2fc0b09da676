"""Replicas: a horizontal autoscaler and an operator both keep `replicas` of one Deployment."""

from __future__ import annotations

import attrs

from actors.apiserver import ApiServer
from testbed import Actor, Cache, Client, World, no_lasso
from testbed.objects import Deployment, DeploymentSpec, LabelSelector, Map, Meta, Pod, PodTemplate
from tests.never_rest.frame import WorkQueue

RESYNC_MS = 15_000
SCALED = "example.com/scaled-by"


@attrs.frozen
class Hpa(Actor):
    """Wants so many replicas, by a load that does not change, and says that it scales this."""

    wants: int

    async def run(self, client: Client) -> None:
        """Look every fifteen seconds."""
        deployments = Cache(client, Deployment)
        while True:
            await client.sleep(RESYNC_MS, "look")
            web = deployments.get("web")
            if web is not None and web.spec.replicas != self.wants:
                meta = {"annotations": {SCALED: self.name}}
                await client.patch(web, {"metadata": meta, "spec": {"replicas": self.wants}})


@attrs.frozen
class Operator(Actor):
    """Keeps the Deployment as its own resource says. With `guard` it leaves replicas alone that
    something scales."""

    wants: int
    guard: bool

    async def run(self, client: Client) -> None:
        """Look when it changes, and every fifteen seconds."""
        deployments, queue = Cache(client, Deployment), WorkQueue(client)
        queue.follow(deployments)
        client.spawn("resync", queue.resync, deployments, RESYNC_MS)

        async def reconcile(name: str) -> None:
            web = deployments.get(name)
            if web is None or web.spec.replicas == self.wants:
                return
            if not self.guard or SCALED not in web.meta.annotations:
                await client.patch(web, {"spec": {"replicas": self.wants}})

        await queue.work(reconcile)


def web(replicas: int) -> Deployment:
    """A Deployment with so many replicas."""
    labels = Map(app="web")
    template = PodTemplate(Meta(labels=labels), Pod.of("", cpu_m=100).spec)
    return Deployment("web", spec=DeploymentSpec(replicas, LabelSelector(labels), template))


def replicas(world: World, *, guard: bool = False) -> None:
    """An autoscaler scales up, and an operator scales down, for ever."""
    world.serve(ApiServer)
    world.add(web(3))
    world.start(Hpa("hpa", 5), Operator("operator", 3, guard))
    world.claim(no_lasso())
