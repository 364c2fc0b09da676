"""Late admission: a scheduler assumes an admission, and writes it later; it has evicted that
workload by then, and the late write takes the eviction back (kubernetes-sigs/kueue#11480)."""

from __future__ import annotations

from typing import Any

import attrs

from actors.apiserver import ApiServer
from testbed import Actor, Client, Evidence, World, quiescent
from testbed.objects import ConfigMap, Map
from tests.told.frame import Told


@attrs.frozen
class Kueue(Actor):
    """Admits low, and soon evicts it for high. A task of its own writes the admission, as it was
    assumed. With `guard` the eviction waits until that is written."""

    guard: bool

    async def run(self, client: Client) -> None:
        """Two cycles, and then it waits until low has gone."""
        low = await client.get(ConfigMap, "low")
        admission = client.spawn("admit", self._admit, client, low)
        await client.sleep(1_000, "second cycle")
        if self.guard:
            await client.join(admission)
        await client.patch(low, {"data": {"evicted": "yes"}})
        while True:
            await client.sleep(1_000, "look")
            if (await client.get(ConfigMap, "low")).data.get("evicted") == "done":
                await client.patch(ConfigMap("high"), {"data": {"admitted": "yes"}})
                return

    async def _admit(self, client: Client, low: ConfigMap) -> None:
        status = Map(admitted="yes", evicted="")
        await client.update(attrs.evolve(low, data=status), whatever_it_was=True)


class JobController(Actor):
    """Stops a workload that is evicted."""

    async def run(self, client: Client) -> None:
        """Look every three seconds."""
        while True:
            await client.sleep(3_000, "look")
            low = await client.get(ConfigMap, "low")
            if low.data.get("evicted") == "yes":
                await client.patch(low, {"data": {"evicted": "done"}})


def high_is_admitted(see: Evidence) -> str | None:
    """In the end the workload that preempts is admitted."""
    high: Any = see.store.peek("configmaps/default/high")
    if high.value.data.get("admitted") != "yes":
        return "configmaps/default/high waits for an eviction that nobody carries out"
    return None


def late_admission(world: World, *, guard: bool = False) -> None:
    """A write arrives after the one that was decided later."""
    world.serve(ApiServer)
    world.add(ConfigMap("low", data=Map(evicted="")), ConfigMap("high"))
    world.start(Kueue("kueue", guard), JobController("job-controller"))
    world.claim(quiescent(high_is_admitted))


TRUE = Told(
    late_admission,
    race="""
holds:
  - hold: kueue update configmaps/default/low
    until: kueue patch configmaps/default/low
""",
    actor="kueue",
    about="configmaps/default/low",
    words=("evicted", "late", "earlier", "overtaken"),
    never=("^job-controller",),
    said=(
        "kueue's earlier update of configmaps/default/low arrived after its own patch of "
        "that, and set data.evicted back to nothing, so nobody carries out that eviction."
    ),
)
