"""Heartbeat over scale: a site writes its heartbeat into a Deployment, all of it, as its informer
knows that; so a scale-up is undone that the informer has not shown yet."""

from __future__ import annotations

from typing import Any

import attrs

from actors.apiserver import ApiServer
from testbed import Actor, Cache, Client, Conflict, Evidence, World, quiescent
from testbed.objects import Deployment
from tests.never_rest.replicas import web
from tests.told.frame import Told

BEAT = "example.com/beat"


@attrs.frozen
class Site(Actor):
    """Writes every ten seconds that it lives. With `guard` it patches that one annotation."""

    guard: bool

    async def run(self, client: Client) -> None:
        """Beat for ever."""
        deployments = Cache(client, Deployment)
        await deployments.synced()
        while True:
            await client.sleep(10_000, "beat")
            found, beat = deployments.get("web"), {BEAT: str(client.now())}
            if found is None:
                continue
            if self.guard:
                await client.patch(found, {"metadata": {"annotations": beat}})
            else:
                annotations = found.meta.annotations.having(**beat)
                mine = found.with_meta(annotations=annotations)
                await client.update(mine, whatever_it_was=True)


class Ann(Actor):
    """Scales up to five, as `kubectl scale` does."""

    async def run(self, client: Client) -> None:
        """Once, after fifteen seconds."""
        await client.sleep(15_000, "scale")
        while True:
            found = await client.get(Deployment, "web")
            try:
                spec = attrs.evolve(found.spec, replicas=5)
                await client.update(attrs.evolve(found, spec=spec))
            except Conflict:
                continue
            client.record("scaled", replicas=5)
            return


def the_scale_up_is_kept(see: Evidence) -> str | None:
    """Web has as many replicas as ann has asked for."""
    found: Any = see.store.peek("deployments/default/web")
    asked = [each.facts["replicas"] for each in see.records if each.name == "scaled"]
    if asked and found.value.spec.replicas != asked[-1]:
        return f"ann has scaled web to {asked[-1]}, and it has {found.value.spec.replicas}"
    return None


def heartbeat_over_scale(world: World, *, guard: bool = False) -> None:
    """A heartbeat takes a scale-up back."""
    world.serve(ApiServer)
    world.add(web(3))
    world.start(Site("site", guard), Ann("ann"))
    world.claim(quiescent(the_scale_up_is_kept))
    world.limit(until_ms=45_000)


TRUE = Told(
    heartbeat_over_scale,
    race="""
holds:
  - hold: delivery of deployments/default/web#2 to site
    until: site update deployments/default/web#2
""",
    actor="site",
    made_so="ann",
    about="deployments/default/web",
    words=("replicas",),
    never=("ann recorded", "ann updated .* and that broke it", "generation"),
    said=(
        "site updated deployments/default/web, believing that its spec.replicas was 3, as it "
        "was told at rv 3; false since ann set it to 5 at rv 4."
    ),
)

ALSO = (
    TRUE.also(
        "on-its-way",
        """
holds:
  - hold: site update deployments/default/web
    until: ann update deployments/default/web
""",
        "site updated deployments/default/web, believing that its spec.replicas was 3, as it "
        "listed at rv 2; false since ann set it to 5 at rv 3.",
    ),
)
