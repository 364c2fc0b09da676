"""A scheduler crashes during a preemption, resumes at a server that is behind, and kills another
pod."""

from __future__ import annotations

from functools import partial
from typing import Any

import attrs

from actors.apiserver import ApiServer
from actors.kubelet import Kubelet, Runtime
from actors.scheduler import Scheduler
from actors.shared.retries import make
from testbed import Actor, Cache, Client, Evidence, Selector, World, always
from testbed.faults.crash import Crash
from testbed.objects import Map, Node, Pod, PriorityClass

SCHEDULER, CROWDED, OTHER = "default-scheduler", "n1", "n2"
IMPORTANT = "important"
DECIDE_MS, LAG_MS, DOWN_MS, RETRY_MS = 1000, 5000, 2000, 500


@attrs.frozen
class Owner(Actor):
    """Keeps the pod `db` alive, as a StatefulSet does: when it is gone, creates another."""

    async def run(self, client: Client) -> None:
        news = client.queue("news", idle=True)
        pods = Cache(client, Pod, Selector(name="db"))
        pods.on(delete=news.put)
        await pods.synced()
        while True:
            if pods.get("db") is None:
                await make(client, db(), retry_ms=RETRY_MS)
            await news.get()


@attrs.frozen
class Operator(Actor):
    """Creates an urgent pod for the crowded node."""

    async def run(self, client: Client) -> None:
        await client.sleep(DECIDE_MS, "decide")
        await make(client, urgent(), retry_ms=RETRY_MS)


def db(**spec: Any) -> Pod:
    """A pod of little importance that ends within a second."""
    return Pod.of("db", cpu_m=800, grace_s=1, scheduler_name=SCHEDULER, **spec)


def urgent() -> Pod:
    """A pod that is more important, and may only run on the crowded node."""
    return Pod.of(
        "urgent", cpu_m=800, scheduler_name=SCHEDULER, priority_class_name=IMPORTANT,
        node_selector=Map(name=CROWDED),
    )  # fmt: skip


def only_who_is_in_the_way_is_deleted(see: Evidence) -> str | None:
    """Room is made on one node, so no pod anywhere else is deleted for it."""
    for change in see.changes:
        old: Any = change.before
        new: Any = change.after
        if not isinstance(old, Pod) or old.spec.node_name == CROWDED or old.meta.is_terminating:
            continue
        if new is None or new.meta.is_terminating:
            where = f"on {old.spec.node_name}" if old.is_bound else "on no node"
            return f"{old.meta.name} ({old.meta.uid}) is {where}, and is deleted"
    return None


def crash_and_resync(world: World, *, guard: bool = False) -> None:
    """The scheduler dies over making room on n1, and comes back to a server that is behind.

    That server still shows the victim, which is gone, and another pod has its name by now. Guarded,
    a delete names the uid of the pod that is meant, and not its name alone.

    Cause: a delete names its pod by the name alone, so one that is decided by an old list hits the
      pod that has the name now.
    Look for: the scheduler deletes pods/default/db, which it takes for the pod that has gone
      already.
    Source: kubernetes#59848, for a scheduler; the guard is the kubelet's, kubernetes PR#25224.
    Tags: stale-cache, restart.
    """
    world.serve(lambda store: ApiServer(store, "api-1"))
    world.serve(lambda store: ApiServer(store, "api-2", lags=("pods",), lag_ms=LAG_MS))
    world.add(PriorityClass(IMPORTANT, value=1000))
    for node in (CROWDED, OTHER):
        world.serve(partial(Runtime, node=node))
        world.add(Node.of(node, cpu_m=1000, labels={"name": node}))
        world.start(Kubelet(f"kubelet-{node}", node), at="api-1")
    world.add(db(node_name=CROWDED))
    precondition = Map(preempt_delete_precondition="uid" if guard else "none")
    world.start(Scheduler(SCHEDULER, switches=precondition), at=("api-1", "api-2"))
    world.start(Owner("owner"), Operator("operator"), at="api-1")
    world.allow(Crash(SCHEDULER, restart_after_ms=DOWN_MS))
    world.claim(always(only_who_is_in_the_way_is_deleted))
