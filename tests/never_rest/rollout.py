"""Rollout: a pipeline applies its manifest for ever, with a note of when, and a scaler scales."""

from __future__ import annotations

from typing import Any

import attrs

from actors.apiserver import ApiServer
from testbed import Actor, Client, Evidence, World, no_lasso, quiescent
from testbed.objects import Deployment, DeploymentSpec, LabelSelector, Map, Meta, Pod, PodTemplate

LABELS = Map(app="web")
APPLIED = "example.com/applied-at"


@attrs.frozen
class Pipeline(Actor):
    """Applies its manifest. With `guard` the manifest says nothing of replicas."""

    guard: bool

    async def run(self, client: Client) -> None:
        """Apply every half a minute."""
        while True:
            at = {"annotations": {APPLIED: str(client.now() // 1_000)}}
            spec = {} if self.guard else {"replicas": 3}
            await client.patch(Deployment("web"), {"metadata": at, "spec": spec})
            await client.sleep(30_000, "apply")


class Scaler(Actor):
    """Keeps the Deployment at five."""

    async def run(self, client: Client) -> None:
        """Look every ten seconds."""
        while True:
            web = await client.get(Deployment, "web")
            if web.spec.replicas != 5:
                await client.patch(web, {"spec": {"replicas": 5}})
            await client.sleep(10_000, "look")


def as_scaled(see: Evidence) -> str | None:
    """In the end the scaler has its way."""
    web: Any = see.store.peek("deployments/default/web")
    if web.value.spec.replicas != 5:
        return f"deployments/default/web has {web.value.spec.replicas} replicas"
    return None


def rollout(world: World, *, guard: bool = False) -> None:
    """Each apply takes back what the scaler has set, for ever."""
    template = PodTemplate(Meta(labels=LABELS), Pod.of("", cpu_m=100).spec)
    world.serve(ApiServer)
    world.add(Deployment("web", spec=DeploymentSpec(3, LabelSelector(LABELS), template)))
    world.start(Pipeline("pipeline", guard), Scaler("scaler"))
    world.claim(no_lasso(), quiescent(as_scaled))
    world.limit(until_ms=120_000)
