"""Leftover: a controller takes endpoints for left over, since their service, which is as new, has
not reached its informer, and deletes them (kubernetes/kubernetes PR#104062)."""

from __future__ import annotations

import attrs

from testbed import Actor, Cache, Client, Evidence, NotFound, World, quiescent
from testbed.objects import ConfigMap, Map, Note
from tests.never_rest.frame import WorkQueue
from tests.told.frame import Told


@attrs.frozen
class EndpointsController(Actor):
    """Deletes endpoints (ConfigMaps) that have no service (a Note). With `guard` it asks the server
    before it does that."""

    guard: bool

    async def run(self, client: Client) -> None:
        """Look at endpoints when they change."""
        services, endpoints = Cache(client, Note), Cache(client, ConfigMap)
        queue = WorkQueue(client)
        queue.follow(endpoints)
        await services.synced()
        await endpoints.synced()

        async def reconcile(name: str) -> None:
            found = endpoints.get(name)
            if found is None or services.get(name) is not None:
                return
            try:
                if self.guard:
                    await client.get(Note, name)
                    return
            except NotFound:
                pass
            await client.delete(found, whatever_it_was=True)

        await queue.work(reconcile)


class Ann(Actor):
    """Makes a service, and its endpoints by hand."""

    async def run(self, client: Client) -> None:
        """Both after a second."""
        await client.sleep(1_000, "apply")
        await client.create(Note("db"))
        await client.create(ConfigMap("db", data=Map(address="10.0.0.7")))


def a_service_has_its_endpoints(see: Evidence) -> str | None:
    """In the end a service that was made has what was made with it."""
    if see.store.peek("notes/default/db") and not see.store.peek("configmaps/default/db"):
        return "the service db has no endpoints any more"
    return None


def leftover(world: World, *, guard: bool = False) -> None:
    """Two new objects come by two watches, the second first."""
    world.start(EndpointsController("endpoints-controller", guard), Ann("ann"))
    world.claim(quiescent(a_service_has_its_endpoints))


TRUE = Told(
    leftover,
    race="""
holds:
  - hold: delivery of notes/default/db to endpoints-controller
    until: endpoints-controller delete configmaps/default/db
""",
    actor="endpoints-controller",
    made_so="ann",
    about="configmaps/default/db",
    did=("deleted",),
    words=(r"notes/default/db",),
    never=("^ann", "data.address"),
    said=(
        "endpoints-controller deleted configmaps/default/db, believing that there was no "
        "notes/default/db, as it listed at rv 1; ann had created it at rv 2."
    ),
)

ALSO = (
    TRUE.also(
        "lag",
        """
faults:
  - lag: notes to endpoints-controller
    at: 500ms
    by: 3s
    for: 5s
""",
        "endpoints-controller deleted configmaps/default/db, believing that there was no "
        "notes/default/db, as it listed at rv 1; ann had created it at rv 2.",
    ),
)
