"""Pending release: a Helm controller dies in an upgrade; the release stays pending, and its next
life takes that for somebody else's work (fluxcd/helm-controller#149)."""

from __future__ import annotations

from typing import Any

import attrs

from actors.apiserver import ApiServer
from testbed import Actor, Client, Evidence, World, quiescent
from testbed.faults.crash import Crash
from testbed.objects import ConfigMap, Map
from tests.told.frame import Told


@attrs.frozen
class HelmController(Actor):
    """Upgrades a release that is not at the version it should be at. With `guard` it unlocks at
    its start what an earlier life has locked."""

    guard: bool

    async def run(self, client: Client) -> None:
        """Look every five seconds."""
        if self.guard and client.life > 1:
            await client.patch(ConfigMap("release"), {"data": {"status": "failed"}})
        while True:
            release = await client.get(ConfigMap, "release")
            data = release.data
            if data["status"] == "pending-upgrade":
                client.record("another operation is in progress")
            elif data["version"] != data["wanted"]:
                await client.patch(release, {"data": {"status": "pending-upgrade"}})
                await client.sleep(3_000, "upgrade")
                done = {"status": "deployed", "version": data["wanted"]}
                await client.patch(release, {"data": done})
            await client.sleep(5_000, "look")


class Ann(Actor):
    """Wants the next version."""

    async def run(self, client: Client) -> None:
        """After a second."""
        await client.sleep(1_000, "want")
        await client.patch(ConfigMap("release"), {"data": {"wanted": "2"}})


def the_upgrade_is_done(see: Evidence) -> str | None:
    """In the end the release is as wanted."""
    release: Any = see.store.peek("configmaps/default/release")
    data = release.value.data
    if data["version"] != data["wanted"]:
        return f"version {data['wanted']} is wanted, and {data['version']} is deployed"
    return None


def pending_release(world: World, *, guard: bool = False) -> None:
    """A crash leaves a lock that nobody takes away."""
    world.serve(ApiServer)
    world.add(ConfigMap("release", data=Map(status="deployed", version="1", wanted="1")))
    world.start(HelmController("helm-controller", guard), Ann("ann"))
    world.claim(quiescent(the_upgrade_is_done))
    world.allow(Crash("helm-controller", restart_after_ms=2_000))
    world.limit(until_ms=45_000)


TRUE = Told(
    pending_release,
    race="""
faults:
  - crash: helm-controller
    after: helm-controller patch configmaps/default/release
    restart: 2s
""",
    actor="helm-controller",
    about="configmaps/default/release",
    words=("crash",),
    did=("pending", "next life", "before it", "never", r"data\.status"),
    never=("^ann",),
    said=(
        "helm-controller crashed after it had made configmaps/default/release pending-upgrade; "
        "its next life takes that for another's operation, and never finishes the upgrade."
    ),
)
