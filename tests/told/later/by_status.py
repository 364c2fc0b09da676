"""By status: a provisioner sets as many replicas as the autoscaler's status says; that follows the
Deployment, so an old count is written over a new one (nginx/nginx-gateway-fabric PR#4214)."""

from __future__ import annotations

from typing import Any

import attrs

from actors.apiserver import ApiServer
from testbed import Actor, Client, Evidence, World, quiescent
from testbed.objects import ConfigMap, Map, Note
from tests.told.frame import Told


class Hpa(Actor):
    """Scales the gateway (a Note) up, and writes then into its status (a ConfigMap) that it has."""

    async def run(self, client: Client) -> None:
        """Once, after three seconds."""
        await client.sleep(3_000, "measure")
        await client.patch(Note("gateway"), {"data": {"replicas": "5"}})
        await client.patch(ConfigMap("hpa"), {"data": {"desired": "5"}})


@attrs.frozen
class Provisioner(Actor):
    """Writes the gateway when its image changes: all of it, with the replicas that stand in the
    autoscaler's status. With `guard` it leaves the replicas as they are."""

    guard: bool

    async def run(self, client: Client) -> None:
        """After four seconds there is a new image."""
        await client.sleep(4_000, "new image")
        gateway = await client.get(Note, "gateway")
        hpa = await client.get(ConfigMap, "hpa")
        replicas = gateway.data["replicas"] if self.guard else hpa.data["desired"]
        await client.update(gateway.saying(image="2", replicas=replicas))


def the_scale_up_lasts(see: Evidence) -> str | None:
    """In the end the gateway has the replicas that the autoscaler wants."""
    gateway: Any = see.store.peek("notes/default/gateway")
    hpa: Any = see.store.peek("configmaps/default/hpa")
    has, wants = gateway.value.data["replicas"], hpa.value.data["desired"]
    return f"the gateway has {has} replicas, and {wants} are wanted" if has != wants else None


def by_status(world: World, *, guard: bool = False) -> None:
    """A new image comes between two writes of the autoscaler."""
    world.serve(ApiServer)
    world.add(Note("gateway").saying(image="1", replicas="2"))
    world.add(ConfigMap("hpa", data=Map(desired="2")))
    world.start(Hpa("hpa"), Provisioner("provisioner", guard))
    world.claim(quiescent(the_scale_up_lasts))


TRUE = Told(
    by_status,
    race="""
holds:
  - hold: hpa patch configmaps/default/hpa
    until: provisioner update notes/default/gateway
""",
    actor="provisioner",
    made_so="hpa",
    about="notes/default/gateway",
    did=("updated", "replicas", "set"),
    words=("configmaps/default/hpa", "desired"),
    never=("^hpa", "image", r"data\.replicas was 2"),
    said=(
        "provisioner updated notes/default/gateway to 2 replicas, believing that "
        "configmaps/default/hpa said what is desired, as it read at rv 3; hpa had scaled to 5 at "
        "rv 4, and its patch of that status was late."
    ),
)

ALSO = (
    TRUE.also(
        "sought",
        """
holds:
  - hold: hpa patch configmaps/default/hpa
    until: provisioner get configmaps/default/hpa
""",
        "provisioner updated notes/default/gateway to 2 replicas, believing that data.desired of "
        "configmaps/default/hpa was 2, as it read at rv 3; false since hpa set it to 5 at rv 5.",
    ),
)
