"""Resized: a pod asks for more between the decision of its scheduler and its bind; the node's agent
has to reject it (kubernetes/kubernetes#126891)."""

from __future__ import annotations

from typing import Any

import attrs

from testbed import Actor, Cache, Client, Conflict, Evidence, World, quiescent
from testbed.objects import Note
from tests.told.frame import Told

HAS_M = 1000


@attrs.frozen
class Scheduler(Actor):
    """Binds a pod (here a Note) that fits beside what is on the node. With `guard` its bind names
    the version of the pod that it has looked at."""

    guard: bool

    async def run(self, client: Client) -> None:
        """When a pod changes."""
        pods, queue = Cache(client, Note), client.queue("pods", idle=True)
        pods.on(add=queue.put, update=lambda old, new: queue.put(new))
        while True:
            pod = pods.get((await queue.get()).meta.name)
            if pod is None or pod.data["node"]:
                continue
            used_m = sum(int(each.data["cpu"]) for each in pods.all() if each.data["node"])
            if used_m + int(pod.data["cpu"]) > HAS_M:
                continue
            try:
                if self.guard:
                    await client.update(pod.saying(node="n1"))
                else:
                    now = await client.get(Note, pod.meta.name)
                    await client.update(now.saying(node="n1"))
            except Conflict:
                continue


class Agent(Actor):
    """Runs what is bound to its node, and rejects what does not fit."""

    async def run(self, client: Client) -> None:
        """When a pod changes."""
        pods, queue = Cache(client, Note), client.queue("pods", idle=True)
        pods.on(add=queue.put, update=lambda old, new: queue.put(new))
        while True:
            pod = pods.get((await queue.get()).meta.name)
            if pod is None or not pod.data["node"] or pod.data["phase"]:
                continue
            others = [each for each in pods.all() if each.data["phase"] == "Running"]
            asked_m = sum(int(each.data["cpu"]) for each in [pod, *others])
            phase = "Running" if asked_m <= HAS_M else "Failed"
            try:
                await client.update(pod.saying(phase=phase))
            except Conflict:
                continue


class Ann(Actor):
    """Starts a pod, and gives it more cpu."""

    async def run(self, client: Client) -> None:
        """As soon as it can."""
        await client.sleep(1_000, "start")
        made = await client.create(Note("web").saying(cpu="100", node="", phase=""))
        try:
            await client.update(made.saying(cpu="900"))
        except Conflict:
            return


def what_is_bound_runs(see: Evidence) -> str | None:
    """No pod is bound that its node rejects."""
    web: Any = see.store.peek("notes/default/web")
    failed = web is not None and web.value.data["phase"] == "Failed"
    return "notes/default/web was bound to n1, and rejected there" if failed else None


def resized(world: World, *, guard: bool = False) -> None:
    """A pod is resized while it is scheduled."""
    world.add(Note("old").saying(cpu="500", node="n1", phase="Running"))
    world.start(Scheduler("scheduler", guard), Agent("agent"), Ann("ann"))
    world.claim(quiescent(what_is_bound_runs))


TRUE = Told(
    resized,
    race="""
holds:
  - hold: delivery of notes/default/web#2 to scheduler
    until: scheduler get notes/default/web
""",
    actor="scheduler",
    about="notes/default/web",
    words=("cpu",),
    never=("^agent", "^ann"),
    said=(
        "scheduler bound notes/default/web to n1, having decided when its data.cpu was 100; "
        "ann had raised that to 900 before the bind; so the agent rejected it."
    ),
)
