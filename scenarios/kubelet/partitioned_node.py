"""A pod on a node that is cut off is deleted by force, created again elsewhere, and runs twice."""

from __future__ import annotations

from functools import partial
from typing import Any

import attrs

from actors.apiserver import ApiServer
from actors.kubelet import Kubelet, Runtime
from actors.scheduler import Scheduler
from actors.shared.retries import make, until_told
from testbed import (
    Actor,
    ApiError,
    Cache,
    Client,
    Evidence,
    NotFound,
    Operation,
    Selector,
    World,
    always,
)
from testbed.faults.partition import Partition
from testbed.objects import Map, Node, Pod

FIRST, SECOND = "n1", "n2"
DECIDE_MS, PATIENCE_MS = 1_000, 30_000
"""When the operator drains the first node, and how long the pod is waited for."""
CUT_OFF_MS = 60_000
RETRY_MS = 1_000


def db() -> Pod:
    """A pod of which there may be one only, as of a StatefulSet."""
    return Pod.of("db", cpu_m=500, grace_s=5)


@attrs.frozen
class StatefulOwner(Actor):
    """Keeps one pod of that name alive: when it is gone, it creates it again, and not before."""

    rank = 3

    async def run(self, client: Client) -> None:
        news = client.queue("news", idle=True)
        pods = Cache(client, Pod, Selector(name="db"))
        pods.on(delete=news.put, update=lambda old, new: None)
        await pods.synced()
        while True:
            if pods.get("db") is None:
                await make(client, db(), retry_ms=RETRY_MS)
            await news.get()


@attrs.frozen
class Maintainer(Actor):
    """Empties the first node: cordons it, deletes the pod, and waits until it is gone."""

    guard: bool = False
    """Whether it waits for as long as it takes; else it deletes the pod by force in the end."""

    async def run(self, client: Client) -> None:
        await client.sleep(DECIDE_MS, "decide")
        cordon = {"spec": {"unschedulable": True}}
        await until_told(client, lambda: client.patch(Node.of(FIRST), cordon), why="cordon")
        pod = await self.look(client)
        if pod is None or pod.spec.node_name != FIRST:
            return
        await self.delete(client, pod.meta.uid)
        await client.sleep(PATIENCE_MS, "wait")
        now = await self.look(client)
        if now is not None and now.meta.uid == pod.meta.uid and not self.guard:
            await self.delete(client, pod.meta.uid, grace_s=0)

    async def look(self, client: Client) -> Pod | None:
        """The pod as it is now."""
        try:
            found: Pod = await until_told(client, partial(client.get, Pod, "db"), why="look")
        except NotFound:
            return None
        return found

    async def delete(self, client: Client, uid: str, **options: Any) -> None:
        """Delete that pod, with these options."""
        delete = Operation("delete", "pods", "db", "default", uid=uid, options=Map(options))
        try:
            await until_told(client, partial(client.ask, delete), why="delete")
        except ApiError as error:
            client.record("refused", error=error.reason)


def it_runs_once(see: Evidence) -> str | None:
    """Containers of that pod run on one node at most."""
    where = []
    for node in (FIRST, SECOND):
        endpoint: Any = see.wire.posts[f"runtime-{node}"].endpoint
        where += [(node, r.pod.meta.uid) for r in endpoint.reports(see.now_ms) if r.is_running]
    if len(where) > 1:
        return "db runs " + " and ".join(f"on {node} ({uid})" for node, uid in where)
    return None


def partitioned_node(world: World, *, guard: bool = False) -> None:
    """An operator empties a node while its kubelet cannot be reached.

    The pod stays Terminating, since its kubelet has not heard of the deletion or cannot finish it.
    Deleted by force, its name is free, and its owner creates it again: two of them run (KUB-45; of
    this the page "Force Delete StatefulSet Pods" of Kubernetes warns). Guarded, the operator waits.

    Cause: a delete by force removes a pod from the API without waiting for its kubelet, which still
      runs it.
    Look for: db is started on n2 after a delete that kubelet-n1, which is cut off, was never told
      of.
    Source: the docs page "Force Delete StatefulSet Pods".
    Tags: stale-cache, silent.
    """
    world.serve(ApiServer)
    for node in (FIRST, SECOND):
        world.serve(partial(Runtime, node=node))
        world.add(Node.of(node, cpu_m=1000))
        world.start(Kubelet(f"kubelet-{node}", node))
    pod = db()
    world.add(attrs.evolve(pod, spec=attrs.evolve(pod.spec, node_name=FIRST)))
    world.start(Scheduler("default-scheduler"), StatefulOwner("owner"))
    world.start(Maintainer("operator", guard))
    world.allow(Partition(f"kubelet-{FIRST}", for_ms=CUT_OFF_MS))
    world.claim(always(it_runs_once))
