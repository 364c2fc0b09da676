"""A kubelet restarts at a server that is behind, and runs again what was deleted and moved."""

from __future__ import annotations

from functools import partial
from typing import Any

import attrs

from actors.apiserver import ApiServer
from actors.kubelet import Kubelet, Runtime
from actors.shared.retries import FOR_GOOD
from actors.shared.verbs import bind
from testbed import (
    Actor,
    ApiError,
    Cache,
    Client,
    Conflict,
    Evidence,
    Found,
    Selector,
    World,
    always,
)
from testbed.faults.crash import Crash
from testbed.objects import Map, Node, Pod

NODES = ("n1", "n2")


@attrs.frozen
class Operator(Actor):
    """Moves a pod to another node: deletes it, and creates one of the same name when it is gone."""

    async def run(self, client: Client) -> None:
        news = client.queue("news", idle=True)
        pods = Cache(client, Pod, Selector(name="db"))
        pods.on(add=news.put, update=lambda _, new: news.put(new), delete=news.put)
        await pods.synced()
        await client.sleep(1000, "decide")
        while True:
            try:
                await self.move(client, pods.get("db"))
            except (Conflict, *FOR_GOOD):
                client.record("overtaken")
            except ApiError:
                await client.sleep(1000, "retry")
                continue
            await news.get()

    async def move(self, client: Client, pod: Pod | None) -> None:
        """Take the next step of the move, if the pod is ready for one."""
        if pod is None:
            await client.sleep(1000, "take its disk along")
            await client.create(db())
        elif not pod.is_bound:
            await bind(client, pod, "n2")
        elif pod.spec.node_name == "n1" and not pod.meta.is_terminating:
            await client.delete(pod, options=Map(grace_s=1))


def db(**spec: Any) -> Pod:
    """A pod that must never run twice, since both would write to one disk."""
    return Pod.of("db", cpu_m=100, **spec)


def no_name_runs_twice(see: Evidence) -> Found | None:
    """No two pods of one name run at once (INV-5)."""
    running = [
        (report.pod.key, node)
        for node in NODES
        for report in see.wire.posts[f"runtime-{node}"].endpoint.reports(see.now_ms)  # type: ignore[attr-defined]
        if report.is_running
    ]
    if len({name for name, _ in running}) < len(running):
        text = f"{running[0][0]} runs on {' and on '.join(node for _, node in running)}"
        return Found(text, reason="too many")
    return None


def time_travel(world: World, *, guard: bool = False) -> None:
    """A kubelet restarts at a server that is behind, and lists what was; guarded, what is.

    Cause: the first list after a restart is answered from an API server's cache, which may be older
      than what the kubelet has acted on already.
    Look for: kubelet-n1 lists pods at an older revision than it knew before the crash, and starts
      db again.
    Source: kubernetes#59848.
    Tags: stale-cache, restart.
    """
    world.serve(lambda store: ApiServer(store, "api-1"))
    world.serve(lambda store: ApiServer(store, "api-2", lags=("pods",), lag_ms=5000))
    for node in NODES:
        world.serve(partial(Runtime, node=node))
        world.add(Node.of(node, cpu_m=1000))
        world.start(Kubelet(f"kubelet-{node}", node, quorum=guard), at=("api-1", "api-2"))
    world.add(db(node_name="n1"))
    world.start(Operator("operator"))
    world.allow(Crash("kubelet-n1", restart_after_ms=1000))
    world.claim(always(no_name_runs_twice))
