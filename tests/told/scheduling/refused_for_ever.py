"""Refused for ever: a scheduler begins each cycle with the most important pod, whose bind is always
refused, and ends the cycle there (kai-scheduler/KAI-Scheduler#2074)."""

from __future__ import annotations

from typing import Any

import attrs

from actors.apiserver import ApiServer
from actors.shared.user import User
from actors.shared.verbs import bind
from testbed import Actor, ApiError, Cache, Client, Evidence, World, quiescent
from testbed.objects import Node, Pod, PriorityClass
from tests.told.frame import Told

CYCLE_MS = 5_000


@attrs.frozen
class Scheduler(Actor):
    """Binds the waiting pods in the order of their priority. A pod that is to be gone (here: one
    that is terminating) cannot be bound. With `guard` a refusal does not end the cycle."""

    guard: bool

    async def run(self, client: Client) -> None:
        """A cycle every five seconds."""
        pods = Cache(client, Pod)
        await pods.synced()
        while True:
            await client.sleep(CYCLE_MS, "cycle")
            waiting = [pod for pod in pods.all() if not pod.is_bound]
            for pod in sorted(waiting, key=lambda pod: -pod.priority):
                try:
                    await bind(client, pod, "n1")
                except ApiError:
                    if not self.guard:
                        break


def web_is_placed(see: Evidence) -> str | None:
    """A pod that fits has a node after some time."""
    web: Any = see.store.peek("pods/default/web")
    if web is None or not web.value.is_bound:
        return "pods/default/web has no node, and n1 has room"
    return None


def refused_for_ever(world: World, *, guard: bool = False) -> None:
    """An important pod that cannot be bound stands before one that can."""
    world.serve(ApiServer)
    world.add(Node.of("n1", cpu_m=1000), PriorityClass("high", value=100))
    stuck = Pod.of("stuck", cpu_m=100, priority=100, grace_s=0)
    world.add(stuck.with_meta(finalizers=("example.com/never",), deleted_ms=0, grace_s=0))
    world.start(Scheduler("scheduler", guard))
    world.start(User("ann", ((1_000, Pod.of("web", cpu_m=100)),)))
    world.claim(quiescent(web_is_placed))
    world.limit(until_ms=45_000)


TRUE = Told(
    refused_for_ever,
    actor="scheduler",
    about=("pods/default/stuck", "pods/default/web"),
    words=("refused", "Conflict", "409"),
    never=("^ann", "ann created"),
    said=(
        "scheduler's bind of pods/default/stuck was refused, Conflict, in each cycle, and "
        "ended that cycle, so its turn never came to pods/default/web."
    ),
)
