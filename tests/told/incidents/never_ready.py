"""Never ready: a gatekeeper expects to hear of each object that it has listed; one is deleted
before its informer begins, and it waits for that for ever (open-policy-agent/gatekeeper#713)."""

from __future__ import annotations

import attrs

from actors.apiserver import ApiServer
from testbed import Actor, Cache, Client, Evidence, World, quiescent
from testbed.objects import ConfigMap
from tests.told.frame import Told


@attrs.frozen
class Gatekeeper(Actor):
    """Says that it is ready when it has heard of all that there was at its start. With `guard` it
    expects no more than its informer has listed."""

    guard: bool

    async def run(self, client: Client) -> None:
        """List, expect, and follow."""
        expected = {item.meta.name for item in (await client.list(ConfigMap)).items}
        await client.sleep(1_000, "start the informers")
        policies, heard = Cache(client, ConfigMap), client.queue("policies", idle=True)
        policies.on(add=heard.put)
        await policies.synced()
        if self.guard:
            expected &= {item.meta.name for item in policies.all()}
        while expected:
            item = await heard.get()
            expected.discard(item.meta.name)
        client.record("ready")


class Ann(Actor):
    """Deletes a policy."""

    async def run(self, client: Client) -> None:
        """Some time later."""
        await client.sleep(1_000, "tidy up")
        await client.delete(ConfigMap("b"), whatever_it_was=True)


def it_gets_ready(see: Evidence) -> str | None:
    """In the end the readiness probe succeeds."""
    if not any(each.name == "ready" for each in see.records):
        return "not ready: the readiness probe fails, HTTP 500"
    return None


def never_ready(world: World, *, guard: bool = False) -> None:
    """A policy is deleted while a gatekeeper starts."""
    world.serve(ApiServer)
    world.add(ConfigMap("a"), ConfigMap("b"))
    world.start(Gatekeeper("gatekeeper", guard), Ann("ann"))
    world.claim(quiescent(it_gets_ready))


TRUE = Told(
    never_ready,
    race="""
holds:
  - hold: gatekeeper list configmaps#2
    until: ann delete configmaps/default/b
""",
    actor="gatekeeper",
    made_so="ann",
    about="configmaps/default/b",
    words=("delete", "gone", "removed", "waits", "expect"),
    never=("^ann",),
    said=(
        "gatekeeper waits for configmaps/default/b for ever, as it had listed that: ann "
        "deleted it before gatekeeper's informer began."
    ),
)
