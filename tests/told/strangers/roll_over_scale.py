"""Roll over scale: a user rolls out a new version; the controller that does it writes the whole
Deployment as it knows it, and so undoes what a scaler has set."""

from __future__ import annotations

from typing import Any

import attrs

from actors.apiserver import ApiServer
from actors.users.commands import PatchCommand
from actors.users.stream import Cue, WorkloadStream
from testbed import Actor, Cache, Client, Evidence, World, quiescent
from testbed.objects import ConfigMap, Deployment, Map
from tests.never_rest.replicas import web
from tests.told.frame import Told

VERSION = "example.com/version"


@attrs.frozen
class Rollouts(Actor):
    """Writes the version that is wanted into the Deployment. With `guard` it writes that alone."""

    guard: bool

    async def run(self, client: Client) -> None:
        """When another one is wanted."""
        deployments, releases = Cache(client, Deployment), Cache(client, ConfigMap)
        await deployments.synced()
        queue = client.queue("releases", idle=True)
        releases.on(update=lambda old, new: queue.put(new))
        while True:
            release = await queue.get()
            found, version = deployments.get("web"), {VERSION: release.data["version"]}
            if found is None:
                continue
            if self.guard:
                await client.patch(found, {"metadata": {"annotations": version}})
            else:
                annotations = found.meta.annotations.having(**version)
                rolled = found.with_meta(annotations=annotations)
                await client.update(rolled, whatever_it_was=True)


class Scaler(Actor):
    """Scales up once."""

    async def run(self, client: Client) -> None:
        """When the load has come."""
        await client.sleep(10_000, "load comes")
        await client.patch(Deployment("web"), {"spec": {"replicas": 5}})


def the_load_is_borne(see: Evidence) -> str | None:
    """There are five replicas in the end."""
    found: Any = see.store.peek("deployments/default/web")
    replicas = found.value.spec.replicas
    return f"the load wants 5 replicas, and there are {replicas}" if replicas != 5 else None


def roll_over_scale(world: World, *, guard: bool = False) -> None:
    """A rollout comes while the informer of its controller is late."""
    world.serve(ApiServer)
    release = ConfigMap("release", data=Map(version="v1"))
    world.add(web(3), release)
    roll = PatchCommand("roll out v2", release, {"data": {"version": "v2"}})
    world.start(WorkloadStream("ann", (Cue.of(11_000, roll),)))
    world.start(Rollouts("rollouts", guard), Scaler("scaler"))
    world.claim(quiescent(the_load_is_borne))


TRUE = Told(
    roll_over_scale,
    race="""
holds:
  - hold: delivery of deployments/default/web to rollouts
    until: rollouts update deployments/default/web
""",
    actor="rollouts",
    made_so="scaler",
    about="deployments/default/web",
    words=("replicas",),
    never=("^ann", "commanded", "generation", "^scaler"),
    said=(
        "rollouts updated deployments/default/web, believing that its spec.replicas was 3, as"
        " it listed at rv 3; false since scaler set it to 5 at rv 4."
    ),
)
