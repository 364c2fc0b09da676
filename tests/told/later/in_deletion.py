"""In deletion: an operator deletes a StatefulSet to make it anew; its informer shows for too long
that it is being deleted, so it leaves it to itself (prometheus-operator PR#8309)."""

from __future__ import annotations

from contextlib import suppress

import attrs

from actors.apiserver import ApiServer
from testbed import Actor, Cache, Client, Evidence, NotFound, World, quiescent
from testbed.errors import AlreadyExists
from testbed.objects import ConfigMap, Map, Note
from tests.told.frame import Told

DEPENDENTS = "foregroundDeletion"


@attrs.frozen
class Operator(Actor):
    """Makes the set (a Note) anew when its size has changed. With `guard` it asks the server
    whether the set is there, and looks again as long as it is being deleted."""

    guard: bool

    async def run(self, client: Client) -> None:
        """Look when what is wanted changes, and once more after a delete."""
        wanted, sets = Cache(client, ConfigMap), Cache(client, Note)
        news = client.queue("news", idle=True)
        wanted.on(add=news.put, update=lambda old, new: news.put(new))
        await wanted.synced()
        await sets.synced()
        while True:
            want = await news.get()
            while (found := await self._found(client, sets)) is not None:
                if found.meta.is_terminating:
                    if not self.guard:
                        break
                elif found.data["size"] == want.data["size"]:
                    break
                else:
                    with suppress(NotFound):
                        await client.delete(found, whatever_it_was=True)
                await client.sleep(2_000, "look again")
            if found is None:
                with suppress(AlreadyExists):
                    await client.create(new_set(want.data["size"]))

    async def _found(self, client: Client, sets: Cache[Note]) -> Note | None:
        if not self.guard:
            return sets.get("prometheus")
        try:
            return await client.get(Note, "prometheus")
        except NotFound:
            return None


class Collector(Actor):
    """Lets go what is being deleted, when its pods are gone."""

    async def run(self, client: Client) -> None:
        """When it hears of it."""
        sets, news = Cache(client, Note), client.queue("news", idle=True)
        sets.on(update=lambda old, new: news.put(new))
        while True:
            found = await news.get()
            if found.meta.is_terminating:
                await client.update(found.with_meta(finalizers=()))


class Ann(Actor):
    """Wants larger disks."""

    async def run(self, client: Client) -> None:
        """After a second."""
        await client.sleep(1_000, "want")
        await client.patch(ConfigMap("prometheus"), {"data": {"size": "20Gi"}})


def new_set(size: str) -> Note:
    """The set, with disks of that size."""
    return Note("prometheus").saying(size=size).with_meta(finalizers=(DEPENDENTS,))


def prometheus_runs(see: Evidence) -> str | None:
    """In the end the set is there."""
    return None if see.store.peek("notes/default/prometheus") else "prometheus does not run"


def in_deletion(world: World, *, guard: bool = False) -> None:
    """The news that it is gone is late."""
    world.serve(ApiServer)
    world.add(ConfigMap("prometheus", data=Map(size="10Gi")), new_set("10Gi"))
    world.start(Operator("operator", guard), Collector("collector"), Ann("ann"))
    world.claim(quiescent(prometheus_runs))


TRUE = Told(
    in_deletion,
    race="""
holds:
  - hold: delivery of DELETED notes/default/prometheus to operator
    until: 5s
""",
    actor="operator",
    about="notes/default/prometheus",
    did=("never", "did not", "wrote nothing", "no more"),
    words=("believing", "Cache", "being deleted", "late", "had not been told", "not knowing"),
    never=("^ann", "^collector", "data.size"),
    said=(
        "operator never created notes/default/prometheus again, believing that it was being "
        "deleted still, as it was told at rv 5; it was gone since collector let it go."
    ),
)

ALSO = (
    TRUE.also(
        "sought",
        """
holds:
  - hold: collector update notes/default/prometheus
    until: 5s
""",
        "operator never created notes/default/prometheus again: it was still being deleted when it "
        "looked last, since collector's update of it was late.",
        actor=("operator", "collector"),
        never=("^ann", "data.size", "without ever having read"),
    ),
)
