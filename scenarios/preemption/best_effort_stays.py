"""The least important pod stays, as it has no requests, and a more important one goes."""

from __future__ import annotations

from typing import Any

from actors.apiserver import ApiServer
from actors.scheduler import Scheduler
from actors.shared.user import User
from testbed import Evidence, World, quiescent
from testbed.objects import Node, Pod, PriorityClass

CREATE_MS = 1_000
STAGES = ({"scraper", "web"}, {"scraper"}, {"scraper", "urgent"})
"""Which pods are on the node: at first, when there is room, and in the end."""


def web_goes_and_scraper_stays(see: Evidence) -> str | None:
    """The pod without requests is where it was, and the urgent one is in place of the other. After
    a fault it may not have come as far as that, or never will."""
    pods: list[Any] = [entry.value for entry in see.store.snapshot("pods/")]
    there = {pod.meta.name for pod in pods if pod.is_bound}
    if there in (STAGES if see.faults else STAGES[-1:]):
        return None
    return f"on n1 is {' and '.join(f'pods/default/{name}' for name in sorted(there))}"


def best_effort_stays(world: World) -> None:
    """The least important pod asks for nothing, and so another one is preempted in its place.

    Scraper (priority 0) has no requests: its QoS class is BestEffort. Web (50) asks for the whole
    node. Urgent (100) needs it. The scheduler counts requests and not what is used; to delete
    scraper would free nothing, however much it uses.

    Cause: for a scheduler, a pod without requests takes no room.
    Look for: who goes; scraper is not even mentioned.
    Source: the design "Pod Preemption in Kubernetes", important notes.
    Tags: priority, no-timing.
    Kind: lesson.
    """
    world.serve(ApiServer)
    world.add(PriorityClass("urgent", value=100), PriorityClass("some", value=50))
    world.add(Node.of("n1", cpu_m=1000))
    world.add(Pod.of("scraper", node_name="n1", grace_s=0))
    world.add(Pod.of("web", cpu_m=1000, node_name="n1", grace_s=0, priority_class_name="some"))
    urgent = Pod.of("urgent", cpu_m=1000, priority_class_name="urgent")
    world.start(Scheduler("default-scheduler"), User("ann", ((CREATE_MS, urgent),)))
    world.claim(quiescent(web_goes_and_scraper_stays, reads=()))
