"""Pressure: a scheduler preempts for an important pod, and its node evicts that for its memory."""

from __future__ import annotations

import attrs

from actors.apiserver import ApiServer
from actors.shared.verbs import bind
from testbed import Actor, ApiError, Cache, Client, World, no_lasso
from testbed.objects import Meta, Node, Pod, PriorityClass
from tests.never_rest.frame import WorkQueue

MINDS = "example.com/too-large"
RESYNC_MS, LOOK_MS, BATCH_MS = 10_000, 5_000, 2_000


@attrs.frozen
class Owner(Actor):
    """Keeps one pod of an app, each with a name of its own."""

    app: str
    important: bool

    async def run(self, client: Client) -> None:
        """Make another where it is gone."""
        pods, queue = Cache(client, Pod), WorkQueue(client)
        await pods.synced()
        queue.follow(pods, lambda pod: pod.meta.labels["app"])
        queue.add(self.app)

        async def reconcile(app: str) -> None:
            listed = await client.list(Pod)
            if app != self.app or any(p.meta.labels["app"] == app for p in listed.items):
                return
            name = "important" if self.important else ""
            if self.important:
                await client.sleep(BATCH_MS, "next batch")
            pod = Pod.of("", cpu_m=800, priority_class_name=name, grace_s=0)
            meta = Meta("", generate_name=f"{app}-", labels={"app": app})
            await client.create(attrs.evolve(pod, meta=meta))

        await queue.work(reconcile)


@attrs.frozen
class Scheduler(Actor):
    """Binds to the one node; if it is full, it deletes what is less important. With `guard` it does
    not do so for an app that the node has evicted before."""

    guard: bool

    async def run(self, client: Client) -> None:
        """Look when a pod changes, and at all every ten seconds."""
        pods, nodes, queue = Cache(client, Pod), Cache(client, Node), WorkQueue(client)
        queue.follow(pods)
        client.spawn("resync", queue.resync, pods, RESYNC_MS)

        async def reconcile(name: str) -> None:
            pod, node = pods.get(name), nodes.get("n1")
            if pod is None or node is None or pod.is_bound:
                return
            if self.guard and node.meta.annotations.get(MINDS) == pod.meta.labels["app"]:
                return
            there = [each for each in pods.all() if each.is_bound]
            if not there:
                await bind(client, pod, "n1")
            elif there[0].priority < pod.priority:
                await client.delete(there[0], whatever_it_was=True)
                queue.add(name)

        await queue.work(reconcile)


@attrs.frozen
class Agent(Actor):
    """The node's agent: it evicts the important pod, which takes more memory than the node has, and
    notes on the node what was too large."""

    async def run(self, client: Client) -> None:
        """Look every five seconds."""
        pods = Cache(client, Pod)
        while True:
            await client.sleep(LOOK_MS, "look")
            for pod in pods.all():
                if pod.is_bound and pod.meta.labels["app"] == "large":
                    note = {"metadata": {"annotations": {MINDS: "large"}}}
                    try:
                        await client.patch(Node("n1"), note)
                        await client.delete(pod, whatever_it_was=True)
                    except ApiError:
                        continue


def pressure(world: World, *, guard: bool = False) -> None:
    """What is preempted for is evicted, made again, and preempted for again."""
    world.serve(ApiServer)
    world.add(Node.of("n1", cpu_m=1000))
    world.add(PriorityClass("important", value=100))
    world.start(Owner("web", "small", False), Owner("batch", "large", True))
    world.start(Scheduler("scheduler", guard), Agent("agent"))
    world.claim(no_lasso(named_anew=["pods"]))
