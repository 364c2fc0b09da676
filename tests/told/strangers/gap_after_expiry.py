"""Gap after expiry: a controller whose watch has expired goes on with a watch from now, and does
not list again; what happened meanwhile it never hears of."""

from __future__ import annotations

from typing import Any

import attrs

from actors.apiserver import ApiServer
from testbed import Actor, Client, Evidence, Expired, World, quiescent
from testbed.errors import WatchBroken
from testbed.faults.break_watch import BreakWatch
from testbed.objects import ConfigMap, Map, Pod
from tests.told.frame import Told


@attrs.frozen
class Copier(Actor):
    """Copies the colour of a ConfigMap into a label of a pod. When its watch ends it opens another,
    from the present; with `guard` from where it was, or it lists."""

    guard: bool

    async def run(self, client: Client) -> None:
        """Follow for ever."""
        listed = await client.list(ConfigMap)
        since = listed.revision
        for each in listed.items:
            await self._copy(client, each)
        stream = await client.watch(ConfigMap, since)
        while True:
            try:
                delivery = await stream.next()
                since = delivery.revision
                item: Any = delivery.object
                if isinstance(item, ConfigMap):
                    await self._copy(client, item)
            except (WatchBroken, Expired):
                present = await client.list(ConfigMap)
                if self.guard:
                    for each in present.items:
                        await self._copy(client, each)
                stream = await client.watch(ConfigMap, present.revision)

    async def _copy(self, client: Client, item: ConfigMap) -> None:
        label = {"metadata": {"labels": {"colour": item.data["colour"]}}}
        await client.patch(Pod("web"), label)


class Ann(Actor):
    """Paints it another colour."""

    async def run(self, client: Client) -> None:
        """After five seconds."""
        await client.sleep(5_000, "paint")
        await client.patch(ConfigMap("paint"), {"data": {"colour": "blue"}})


def the_colour_is_copied(see: Evidence) -> str | None:
    """In the end the pod has the colour that is wanted."""
    pod: Any = see.store.peek("pods/default/web")
    paint: Any = see.store.peek("configmaps/default/paint")
    wants, has = paint.value.data["colour"], pod.value.meta.labels["colour"]
    return f"pods/default/web is {has}, and is to be {wants}" if wants != has else None


def gap_after_expiry(world: World, *, guard: bool = False) -> None:
    """A watch breaks while something is on its way."""
    world.serve(ApiServer)
    world.add(ConfigMap("paint", data=Map(colour="red")))
    world.add(Pod.of("web", cpu_m=100, labels={"colour": "none"}))
    world.start(Copier("copier", guard), Ann("ann"))
    world.claim(quiescent(the_colour_is_copied))
    world.allow(BreakWatch("copier*"))


TRUE = Told(
    gap_after_expiry,
    race="""
faults:
  - break_watch: configmaps to copier
    after: wake of ann paint
""",
    actor="copier",
    about=("configmaps/default/paint", "pods/default/web"),
    words=("watch", "not heard", "was not told", "never", "ignored"),
    never=("^ann",),
    said=(
        "copier's watch broke just before ann painted configmaps/default/paint; copier "
        "watched on from the present, and never acted on that."
    ),
)
