"""Passed over: a scheduler always takes the most important pod, and a user keeps one coming; a
plain pod waits for ever."""

from __future__ import annotations

from typing import Any

import attrs

from actors.apiserver import ApiServer
from actors.shared.verbs import bind
from actors.users.commands import CreateCommand, DeleteCommand
from actors.users.stream import Cue, WorkloadStream
from testbed import Actor, Cache, Client, Evidence, World, quiescent
from testbed.objects import Node, Pod, PriorityClass
from tests.told.frame import Told

LOOK_MS, END_MS = 1_000, 60_000


@attrs.frozen
class OneSlot(Actor):
    """Binds a waiting pod when n1 is empty: the most important first. With `guard` the one that
    has waited longest."""

    guard: bool

    async def run(self, client: Client) -> None:
        """Look once a second."""
        pods = Cache(client, Pod)
        await pods.synced()
        while True:
            await client.sleep(LOOK_MS, "look")
            waiting = [pod for pod in pods.all() if not pod.is_bound]
            if not waiting or len(waiting) < len(pods.all()):
                continue
            oldest = min(waiting, key=lambda pod: (pod.meta.created_ms, pod.meta.name))
            most = max(waiting, key=lambda pod: pod.priority)
            chosen = oldest if self.guard else most
            why = "oldest" if self.guard else "priority"
            decided = client.record("chose", pod=chosen.key, by=why)
            await bind(client, chosen, "n1", because=decided)


def batch_gets_its_turn(see: Evidence) -> str | None:
    """The plain pod has had a node at some time."""
    found: Any = see.store.peek("pods/default/batch")
    if found is None or not found.value.is_bound:
        return "pods/default/batch has had no node for a minute"
    return None


def job(number: int) -> Pod:
    """An important pod that fills the node."""
    return Pod.of(f"job-{number}", cpu_m=1000, grace_s=0, priority_class_name="high")


def passed_over(world: World, *, guard: bool = False) -> None:
    """An important pod is always there when the node gets free."""
    world.serve(ApiServer)
    world.add(Node.of("n1", cpu_m=1000), PriorityClass("high", value=100))
    cues = [Cue.of(3_000, CreateCommand(Pod.of("batch", cpu_m=1000)))]
    for number in range(6):
        cues.append(Cue.of(number * 10_000, CreateCommand(job(number))))
        cues.append(Cue.of(number * 10_000 + 11_500, DeleteCommand(job(number))))
    world.start(WorkloadStream("ann", tuple(sorted(cues, key=lambda cue: cue.at_ms))))
    world.start(OneSlot("scheduler", guard))
    world.claim(quiescent(batch_gets_its_turn))
    world.limit(until_ms=END_MS)


TRUE = Told(
    passed_over,
    actor="scheduler",
    about="pods/default/batch",
    words=("priority", "ahead", "before", "instead", "passed over", "first", "important", "guard"),
    never=("ann recorded", "ann created", "commanded"),
    said=(
        "scheduler bound pods/default/job-1 and each later job before pods/default/batch, "
        "which had waited longer: it goes by priority alone."
    ),
)
