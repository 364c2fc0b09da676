"""Two gangs: a scheduler places pods one by one, and the pods of two gangs come mixed: each gang
has one of its two pods placed, and holds what the other waits for."""

from __future__ import annotations

from functools import partial
from typing import Any

import attrs

from actors.apiserver import ApiServer
from actors.kubelet import Kubelet, Runtime
from actors.shared.user import User
from actors.shared.verbs import bind
from testbed import Actor, Cache, Client, Evidence, World, quiescent
from testbed.objects import Node, Pod
from tests.never_rest.frame import WorkQueue
from tests.told.frame import Told

NODES = ("n1", "n2")


@attrs.frozen
class GangScheduler(Actor):
    """Binds each pod to a node that has none. With `guard` it binds a gang only as a whole."""

    guard: bool

    async def run(self, client: Client) -> None:
        """Look at each pod when it changes, the oldest first."""
        pods, queue = Cache(client, Pod), WorkQueue(client)
        queue.follow(pods)
        placed: dict[str, str] = {}

        async def reconcile(name: str) -> None:
            pod = pods.get(name)
            if pod is None or pod.is_bound or name in placed.values():
                return
            gang = pod.meta.labels["gang"]
            mine = [each for each in pods.all() if each.meta.labels["gang"] == gang]
            free = [node for node in NODES if node not in placed]
            if self.guard and (len(mine) < 2 or len(free) < 2):
                return
            for each in mine if self.guard else [pod]:
                if free:
                    placed[free[0]] = each.meta.name
                    await bind(client, each, free.pop(0))

        await queue.work(reconcile)


def no_gang_is_half_placed(see: Evidence) -> str | None:
    """In the end each gang has both its pods on nodes, or none."""
    pods: list[Any] = [entry.value for entry in see.store.snapshot("pods/")]
    for gang in ("a", "b"):
        bound = [pod.key for pod in pods if pod.meta.labels["gang"] == gang and pod.is_bound]
        if len(bound) == 1:
            return f"gang {gang} is half placed: only {bound[0]} has a node"
    return None


def member(gang: str, number: int) -> Pod:
    """A pod of a gang."""
    return Pod.of(f"{gang}-{number}", cpu_m=800, labels={"gang": gang})


def two_gangs(world: World, *, guard: bool = False) -> None:
    """Two teams each start a gang of two where there is room for one gang."""
    world.serve(ApiServer)
    for name in NODES:
        world.add(Node.of(name, cpu_m=1000))
        world.serve(partial(Runtime, node=name))
        world.start(Kubelet(f"kubelet-{name}", name))
    world.start(GangScheduler("scheduler", guard))
    for team, at_ms in (("a", 1_000), ("b", 1_500)):
        creates = tuple((at_ms, member(team, number)) for number in (0, 1))
        world.start(User(f"team-{team}", creates))
    world.claim(quiescent(no_gang_is_half_placed))


TRUE = Told(
    two_gangs,
    race="""
holds:
  - hold: team-a create pods/default/a-1
    until: scheduler bind pods/default/b-0
""",
    actor="scheduler",
    about=("pods/default/b-0", "pods/default/a-1", "pods/default/b-1"),
    words=("a-1", "half", "holds?", "waits? for", "no room", "no node", "whole"),
    never=("kubelet", "^team"),
    said=(
        "scheduler bound pods/default/b-0 to the last free node while a-1 had not come yet: "
        "now a-0 and b-0 each hold the node that the other gang waits for."
    ),
)
