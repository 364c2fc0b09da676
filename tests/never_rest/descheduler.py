"""Descheduler: it evicts from a node that is too full, and the scheduler puts the next there."""

from __future__ import annotations

import attrs

from actors.apiserver import ApiServer
from actors.shared.verbs import bind
from testbed import Actor, ApiError, Cache, Client, World, no_lasso
from testbed.objects import Meta, Node, Pod
from tests.never_rest.frame import WorkQueue

LOOK_MS, RESYNC_MS = 60_000, 30_000


@attrs.frozen
class Owner(Actor):
    """Keeps two pods of an app."""

    async def run(self, client: Client) -> None:
        """Make another where one is gone."""
        pods, queue = Cache(client, Pod), WorkQueue(client)
        queue.follow(pods, lambda pod: "web")
        await pods.synced()
        queue.add("web")

        async def reconcile(app: str) -> None:
            found = [p for p in (await client.list(Pod)).items if not p.meta.is_terminating]
            if len(found) < 2:
                meta = Meta("", generate_name=f"{app}-", labels={"app": app})
                await client.create(attrs.evolve(Pod.of("", cpu_m=400, grace_s=0), meta=meta))
                queue.add(app)

        await queue.work(reconcile)


@attrs.frozen
class Scheduler(Actor):
    """Packs: it binds each pod to the first node that has room."""

    async def run(self, client: Client) -> None:
        """Look when a pod changes, and at all every half a minute."""
        pods, nodes, queue = Cache(client, Pod), Cache(client, Node), WorkQueue(client)
        await pods.synced()
        await nodes.synced()
        queue.follow(pods)
        client.spawn("resync", queue.resync, pods, RESYNC_MS)

        async def reconcile(name: str) -> None:
            pod = pods.get(name)
            if pod is None or pod.is_bound:
                return
            for node in nodes.all():
                if sum(each.spec.node_name == node.meta.name for each in pods.all()) < 2:
                    await bind(client, pod, node.meta.name)
                    return

        await queue.work(reconcile)


@attrs.frozen
class Descheduler(Actor):
    """Evicts one of two pods that share a node. With `guard` it does so only if the scheduler would
    put the next one elsewhere, which one that packs does not."""

    guard: bool

    async def run(self, client: Client) -> None:
        """Look once a minute."""
        pods = Cache(client, Pod)
        while True:
            await client.sleep(LOOK_MS, "look")
            seen: dict[str, Pod] = {}
            for pod in pods.all():
                twin = seen.setdefault(pod.spec.node_name, pod)
                if pod.is_bound and twin is not pod and not self.guard:
                    try:
                        await client.delete(pod)
                    except ApiError:
                        continue


def descheduler(world: World, *, guard: bool = False) -> None:
    """What spreads and what packs undo each other for ever."""
    world.serve(ApiServer)
    world.add(Node.of("n1", cpu_m=1000), Node.of("n2", cpu_m=1000))
    world.start(Owner("owner"), Scheduler("scheduler"), Descheduler("descheduler", guard))
    world.claim(no_lasso(named_anew=["pods"]))
