"""Repeated expectation: a scheduler waits for the preemption that it has asked for; that has come,
and was crossed off, before it asked once more (kubernetes-sigs/kueue#10181)."""

from __future__ import annotations

from typing import Any

import attrs

from actors.apiserver import ApiServer
from testbed import Actor, Cache, Client, Evidence, World, quiescent
from testbed.objects import ConfigMap, Map
from tests.told.frame import Told


@attrs.frozen
class Kueue(Actor):
    """A workload controller and a scheduler in one program. The scheduler expects each preemption
    that it asks for, and the controller crosses it off when the informer shows it. With `guard` the
    scheduler looks at its victim again before it asks."""

    guard: bool

    async def run(self, client: Client) -> None:
        """A cycle for each change of a workload."""
        workloads = Cache(client, ConfigMap)
        expected: set[str] = set()
        wake = client.queue("cycles", idle=True)

        def controller(old: ConfigMap, new: ConfigMap) -> None:
            if new.data.get("evicted"):
                expected.discard(new.meta.name)
            wake.put(new.meta.name)

        workloads.on(add=lambda new: wake.put(new.meta.name), update=controller)
        while True:
            await wake.get()
            high, low = workloads.get("high"), workloads.get("low")
            if high is None or low is None or high.data.get("admitted"):
                continue
            await client.get(ConfigMap, "cluster-queue")
            if self.guard:
                low = workloads.get("low") or low
            if "low" in expected:
                continue
            if low.data.get("evicted"):
                admitted = attrs.evolve(high, data=high.data.having(admitted="yes"))
                await client.update(admitted, whatever_it_was=True)
            else:
                expected.add("low")
                client.record("preempts", workload="low", for_="high")
                evicted = attrs.evolve(low, data=low.data.having(evicted="yes"))
                await client.update(evicted, whatever_it_was=True)


class Ann(Actor):
    """Submits a workload, and labels it."""

    async def run(self, client: Client) -> None:
        """One after the other."""
        await client.sleep(1_000, "submit")
        await client.create(ConfigMap("high", data=Map(cpu="4")))
        await client.patch(ConfigMap("high"), {"metadata": {"labels": {"team": "ml"}}})


def what_preempts_is_admitted(see: Evidence) -> str | None:
    """In the end the workload that made room has it."""
    high: Any = see.store.peek("configmaps/default/high")
    if high is not None and not high.value.data.get("admitted"):
        return "configmaps/default/high waits for ever for the room that it has made"
    return None


def repeated_expectation(world: World, *, guard: bool = False) -> None:
    """A preemption is asked for a second time, and waited for."""
    world.serve(ApiServer)
    world.add(ConfigMap("cluster-queue"), ConfigMap("low", data=Map(cpu="4")))
    world.start(Kueue("kueue", guard), Ann("ann"))
    world.claim(quiescent(what_preempts_is_admitted))


TRUE = Told(
    repeated_expectation,
    race="""
holds:
  - hold: delivery of configmaps/default/low to kueue
    until: kueue get configmaps/default/cluster-queue#2
""",
    actor="kueue",
    about=("configmaps/default/low", "configmaps/default/high"),
    words=("evicted", "again", "had already", "expect"),
    did=("Cache", "old", "still knew", "believing", "before it", "again", "twice", "crossed"),
    never=("^ann",),
    said=(
        "kueue evicted configmaps/default/low again by old news, after it had crossed off "
        "that it expects that: no news comes of an update that changed nothing."
    ),
)
