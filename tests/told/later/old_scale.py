"""Old scale: an operator starts again at a server that is behind, reads of a scale-down that was
taken back since, and deletes the volume in use (instaclustr/cassandra-operator#407)."""

from __future__ import annotations

import attrs

from actors.apiserver import ApiServer
from testbed import Actor, Cache, Client, Evidence, NotFound, World, always
from testbed.errors import AlreadyExists
from testbed.faults.crash import Crash
from testbed.objects import ConfigMap, Map, Note
from tests.told.frame import Told


@attrs.frozen
class Operator(Actor):
    """Keeps a volume (a Note) for each replica of the ring, and deletes others. With `guard` its
    first list shows what is, not what a server has cached."""

    guard: bool

    async def run(self, client: Client) -> None:
        """Look every five seconds."""
        rings = Cache(client, ConfigMap, quorum=self.guard)
        await rings.synced()
        while True:
            (ring,) = rings.all()
            for number in (0, 1):
                volume = Note(f"volume-{number}")
                try:
                    if number < int(ring.data["replicas"]):
                        await client.create(volume)
                    else:
                        await client.delete(volume, whatever_it_was=True)
                except (AlreadyExists, NotFound):
                    continue
            await client.sleep(5_000, "look")


class Ann(Actor):
    """Scales down and up again."""

    async def run(self, client: Client) -> None:
        """To one, and ten seconds later to two."""
        for at_ms, replicas in ((3_000, "1"), (10_000, "2")):
            await client.sleep(at_ms, "scale")
            await client.patch(ConfigMap("ring"), {"data": {"replicas": replicas}})


def no_volume_in_use_is_deleted(see: Evidence) -> str | None:
    """A volume of a replica that is wanted is not deleted."""
    for change in see.changes:
        ring = see.store.peek("configmaps/default/ring")
        gone = change.before
        if change.after is None and isinstance(gone, Note) and ring is not None:
            number = int(gone.meta.name.rpartition("-")[2])
            if number < int(ring.value.data["replicas"]):  # type: ignore[attr-defined]
                return f"{gone.key} was deleted, and the ring has {number + 1} replicas"
    return None


def old_scale(world: World, *, guard: bool = False) -> None:
    """An operator travels back in time."""
    world.serve(lambda store: ApiServer(store, "api-1"))
    world.serve(lambda store: ApiServer(store, "api-2", lags=("configmaps",), lag_ms=8_000))
    world.add(ConfigMap("ring", data=Map(replicas="2")))
    world.start(Operator("operator", guard), at=("api-1", "api-2"))
    world.start(Ann("ann"), at="api-1")
    world.claim(always(no_volume_in_use_is_deleted))
    world.allow(Crash("operator", restart_after_ms=1_000))
    world.limit(until_ms=40_000)


TRUE = Told(
    old_scale,
    race="""
faults:
  - crash: operator
    after: operator create notes/default/volume-1#2
    restart: 1s
""",
    actor="operator",
    made_so="ann",
    about="notes/default/volume-1",
    did=("deleted",),
    words=("replicas",),
    never=("^ann",),
    said=(
        "operator deleted notes/default/volume-1, believing that configmaps/default/ring had "
        "replicas 1, as its next life listed at rv 5; false since ann set it to 2 at rv 7."
    ),
)
