"""An important pod makes room again and again, and others take it before there is enough."""

from __future__ import annotations

from functools import partial
from typing import Any, ClassVar

import attrs

from actors.apiserver import ApiServer
from actors.framework.cluster_events import NOMINATED
from actors.kubelet import Kubelet, Runtime
from actors.scheduler import Scheduler
from actors.scheduler.invariants import was_given_up
from actors.shared.retries import make
from testbed import Actor, Client, Evidence, World, always
from testbed.errors import ScenarioError
from testbed.objects import Node, Pod, PriorityClass, requests_of
from testbed.objects.pod import RUNNING

NODE, NAME = "n1", "alpha"
IMPORTANT = PriorityClass("important", value=100)
GRACES_S = (10, 20, 30, 40, 50)
"""How long each of the first pods takes to end."""
HAS_M = 10_000
"""The cpu of the node."""


def small(name: str, grace_s: int = 30, **spec: Any) -> Pod:
    """A pod that asks for a fifth of the node and has no priority."""
    return Pod.of(name, cpu_m=2000, scheduler_name=NAME, grace_s=grace_s, **spec)


def running(name: str, grace_s: int) -> Pod:
    """A small pod that runs from the start."""
    pod = small(name, grace_s, node_name=NODE, priority=0)
    return attrs.evolve(pod, status=attrs.evolve(pod.status, phase=RUNNING, start_ms=0))


@attrs.frozen
class User(Actor):
    """Creates a pod that needs all of the node, and then a small one every ten seconds."""

    rank: ClassVar[int] = 0

    pods: int

    async def run(self, client: Client) -> None:
        important = IMPORTANT.meta.name
        await make(
            client, Pod.of("p", cpu_m=HAS_M, scheduler_name=NAME, priority_class_name=important)
        )
        await client.sleep(5000, "first pod")
        for k in range(1, self.pods + 1):
            await make(client, small(f"s{k:02}"))
            await client.sleep(10_000, "next pod")


def nobody_takes_its_room(see: Evidence) -> str | None:
    """The pods that stay on a node leave a nominated pod the room that was made for it (INV-15),
    unless its own bind has failed there: its scheduler clears the nomination then."""
    pods: list[Pod] = [entry.value for entry in see.store.snapshot("pods/")]  # type: ignore[misc]
    for pod in pods:
        node = pod.status.nominated_node_name or pod.meta.annotations.get(NOMINATED, "")
        if not node or pod.is_bound:
            continue
        stay = [p for p in pods if p.spec.node_name == node and not p.meta.is_terminating]
        taken = sum(requests_of(each)["cpu"] for each in (pod, *stay))
        if taken > HAS_M and not all(was_given_up(see, pod, node, each) for each in stay):
            names = " and ".join(each.meta.name for each in stay)
            return f"room was made on {node} for {pod.meta.name}, and it is taken by {names}"
    return None


def starvation(world: World, *, guard: bool = False, pods: int = 3) -> None:
    """An important pod makes room, and a scheduler with one line for all gives it to small ones.

    That scheduler (profile `alpha`) does not reserve room for a nominated pod. Guarded, it is the
    scheduler of 1.26, which does.

    Cause: the alpha scheduler keeps no room for a nominated pod, and its queue is one line for all
      priorities.
    Look for: alpha binds s01 to n1, into the room that it has made there for p.
    Source: the design "Pod Preemption in Kubernetes", "Starvation Problem".
    Tags: nomination, grace-period, starvation, no-timing, priority.
    """
    if pods < 1:
        raise ScenarioError(f"pods={pods}: expected 1 or more")
    world.serve(ApiServer)
    world.serve(partial(Runtime, node=NODE))
    world.add(IMPORTANT, Node.of(NODE, cpu_m=HAS_M))
    world.add(*(running(f"v{k}", grace_s) for k, grace_s in enumerate(GRACES_S, 1)))
    world.start(Kubelet(f"kubelet-{NODE}", NODE))
    if guard:
        world.start(Scheduler(NAME))
    else:
        world.start(Scheduler(NAME, profile="alpha"))
        world.needs_no_race = "in one line, whoever stands before the important pod takes its room"
    world.start(User("user", pods))
    # A pod that finds no room is retried for ever, in the end once a minute. With four of them
    # there are pauses of 15 seconds: the World is at rest when its next timer is over 12 away.
    world.claim(always(nobody_takes_its_room))
