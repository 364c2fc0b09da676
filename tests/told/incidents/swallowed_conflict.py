"""Swallowed conflict: a controller fails to take its finalizer off, and is not woken again
(envoyproxy/ai-gateway#2565)."""

from __future__ import annotations

import attrs

from actors.apiserver import ApiServer
from testbed import Actor, ApiError, Cache, Client, Conflict, Evidence, World, quiescent
from testbed.objects import ConfigMap
from tests.told.frame import Told

OURS = "example.com/gateway"


@attrs.frozen
class Controller(Actor):
    """Lets a route go that is being deleted. With `guard` it tries again after a Conflict."""

    guard: bool

    async def run(self, client: Client) -> None:
        """Woken once for a deletion: other changes of the metadata are filtered out."""
        routes, queue = Cache(client, ConfigMap), client.queue("deletions", idle=True)

        def updated(old: ConfigMap, new: ConfigMap) -> None:
            if new.meta.is_terminating and not old.meta.is_terminating:
                queue.put(new)

        def added(new: ConfigMap) -> None:
            if new.meta.is_terminating:
                queue.put(new)

        routes.on(add=added, update=updated)
        while True:
            route = await queue.get()
            while True:
                try:
                    await client.update(route.with_meta(finalizers=()))
                    break
                except Conflict:
                    if not self.guard:
                        break
                    route = await client.get(ConfigMap, route.meta.name)


class Gateway(Actor):
    """Notes on the route which pods serve it."""

    async def run(self, client: Client) -> None:
        """After two seconds."""
        await client.sleep(2_000, "note")
        try:
            await client.patch(ConfigMap("route"), {"metadata": {"annotations": {"pods": "3"}}})
        except ApiError:
            return


class Ann(Actor):
    """Deletes the route."""

    async def run(self, client: Client) -> None:
        """At the same time."""
        await client.sleep(2_000, "delete")
        await client.delete(ConfigMap("route"), whatever_it_was=True)


def what_is_deleted_goes(see: Evidence) -> str | None:
    """In the end the route is gone."""
    if see.store.peek("configmaps/default/route") is not None:
        return "configmaps/default/route is terminating, and nobody lets it go"
    return None


def swallowed_conflict(world: World, *, guard: bool = False) -> None:
    """A finalizer is to be taken off while others write the object."""
    world.serve(ApiServer)
    world.add(ConfigMap("route").with_meta(finalizers=(OURS,)))
    world.start(Controller("controller", guard), Gateway("gateway"), Ann("ann"))
    world.claim(quiescent(what_is_deleted_goes))


TRUE = Told(
    swallowed_conflict,
    race="""
holds:
  - hold: gateway patch configmaps/default/route
    until: ann delete configmaps/default/route
  - hold: controller update configmaps/default/route
    until: gateway patch configmaps/default/route
""",
    actor="controller",
    about="configmaps/default/route",
    words=("Conflict", "refused", "409"),
    did=("never", "not repeat", "gave up", "did not", "wrote nothing"),
    never=("^ann", "^gateway"),
    said=(
        "controller's update of configmaps/default/route was refused, Conflict, since gateway"
        " had written it; controller never repeated it."
    ),
)

ALSO = (
    TRUE.also(
        "one-line",
        """
holds:
  - hold: gateway patch configmaps/default/route
    until: ann delete configmaps/default/route
""",
        "controller's update of configmaps/default/route was refused, Conflict, since gateway had "
        "written it; controller never repeated it.",
    ),
)
