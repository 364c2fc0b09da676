"""Two buckets: a provider makes a bucket outside the cluster, and makes it again, since its
informer does not show yet which one it has made (crossplane/crossplane-runtime PR#283)."""

from __future__ import annotations

from typing import Any

import attrs

from actors.apiserver import ApiServer
from testbed import Actor, Cache, Client, Evidence, Operation, StoreEndpoint, World, always
from testbed.objects import ConfigMap
from tests.never_rest.frame import WorkQueue
from tests.told.frame import Told

NAME = "external_name"


class Cloud(StoreEndpoint):
    """Makes buckets, each with a name of its own, and knows of no cluster."""

    def __init__(self, store: Any, name: str = "cloud") -> None:
        super().__init__(store, name)
        self.made = 0

    def handle(self, operation: Operation, caller: str, now_ms: int) -> Any:
        """`make` makes a bucket, and answers with its name."""
        if operation.verb != "make":
            return (yield from super().handle(operation, caller, now_ms))
        self.made += 1
        return f"bucket-{self.made}"


@attrs.frozen
class Provider(Actor):
    """Makes a bucket for each resource that has none. With `guard` it first notes on the resource
    that it is about to, by an update that is refused if the resource has changed."""

    guard: bool

    async def run(self, client: Client) -> None:
        """Look at a resource when it changes."""
        resources, queue = Cache(client, ConfigMap), WorkQueue(client)
        queue.follow(resources)

        async def reconcile(name: str) -> None:
            resource = resources.get(name)
            if resource is None or NAME in resource.data or "pending" in resource.data:
                return
            if self.guard:
                data = resource.data.having(pending="yes")
                resource = await client.update(attrs.evolve(resource, data=data))
            bucket = await client.ask(Operation("make", "buckets", name, endpoint="cloud"))
            client.record("made", bucket=bucket, resource=resource.key)
            await client.patch(resource, {"data": {NAME: bucket}})

        await queue.work(reconcile)


class Ann(Actor):
    """Declares a resource, and describes it soon after."""

    async def run(self, client: Client) -> None:
        """Two writes."""
        await client.create(ConfigMap("assets"))
        await client.patch(ConfigMap("assets"), {"data": {"about": "pictures"}})


def one_bucket_each(see: Evidence) -> str | None:
    """Nobody pays for two buckets."""
    made = [each.facts["bucket"] for each in see.records if each.name == "made"]
    return f"there are {len(made)} buckets for assets: {', '.join(made)}" if len(made) > 1 else None


def two_buckets(world: World, *, guard: bool = False) -> None:
    """A resource changes when its bucket was just made."""
    world.serve(ApiServer)
    world.serve(Cloud)
    world.start(Provider("provider", guard), Ann("ann"), at="api")
    world.claim(always(one_bucket_each))


TRUE = Told(
    two_buckets,
    race="""
holds:
  - hold: ann patch configmaps/default/assets
    until: provider make buckets/assets
  - hold: delivery of configmaps/default/assets#2 to provider
    until: provider make buckets/assets#2
""",
    actor="provider",
    about="configmaps/default/assets",
    words=(NAME, "Cache", "believing", "had not been told", "its own update", "late"),
    did=("made", "make", "recorded", "bucket"),
    never=("^ann",),
    said=(
        "provider made bucket-2 before its Cache showed its own patch of "
        "configmaps/default/assets, so it believed that this had no external_name."
    ),
)
