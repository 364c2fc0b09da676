"""A pod is preempted for an important one, and pods that are less important than it stay."""

from __future__ import annotations

from typing import Any

from actors.apiserver import ApiServer
from actors.scheduler import Scheduler
from actors.shared.user import User
from testbed import Evidence, World, quiescent
from testbed.objects import Node, Pod, PriorityClass

CORES = (3, 1, 5, 1)
"""What the pods on the node ask for; the priority of each is its place in this list."""
CREATE_MS = 1_000
STAGES = ({"p0", "p1", "p2", "p3"}, {"p0", "p1", "p3"}, {"new", "p0", "p1", "p3"})
"""Which pods are on the node: at first, when there is room, and in the end."""


def p2_alone_goes(see: Evidence) -> str | None:
    """Of the pods that were there, all stay but the one of priority 2; and the new one is bound.
    After a fault it may not have come as far as that, or never will."""
    pods: list[Any] = [entry.value for entry in see.store.snapshot("pods/")]
    there = {pod.meta.name for pod in pods if pod.is_bound}
    if there in (STAGES if see.faults else STAGES[-1:]):
        return None
    return f"on n1 are {', '.join(f'pods/default/{name}' for name in sorted(there))}"


def one_larger_victim(world: World) -> None:
    """A pod of priority 2 is preempted, and not those of 0 and 1, which would not have sufficed.

    A node of 10 cores has pods of priority 0, 1, 2 and 3, which ask for 3, 1, 5 and 1. A new pod of
    priority 10 needs 5. The scheduler takes all four away, in thought, and puts them back one by
    one, the most important first, as long as the new pod still fits. Priority 3 comes back, 2 does
    not fit any more, and 1 and 0 do. So there is one victim, and not three.

    Cause: victims are chosen by trying who can stay, and not by taking from below.
    Look for: which pod is deleted.
    Source: the design "Pod Preemption in Kubernetes", important notes.
    Tags: priority, no-timing.
    Kind: lesson.
    """
    world.serve(ApiServer)
    world.add(Node.of("n1", cpu_m=10_000))
    for value, cores in enumerate(CORES):
        world.add(PriorityClass(f"of-{value}", value=value))
        spec: dict[str, Any] = {
            "priority_class_name": f"of-{value}",
            "node_name": "n1",
            "grace_s": 0,
        }
        world.add(Pod.of(f"p{value}", cpu_m=1000 * cores, **spec))
    world.add(PriorityClass("of-10", value=10))
    new = Pod.of("new", cpu_m=5_000, priority_class_name="of-10")
    world.start(Scheduler("default-scheduler"), User("ann", ((CREATE_MS, new),)))
    world.claim(quiescent(p2_alone_goes, reads=()))
