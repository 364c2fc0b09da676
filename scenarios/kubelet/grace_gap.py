"""A kubelet says that a pod is over while the node still holds its resources; the next one is bound
there, and refused."""

from __future__ import annotations

from functools import partial
from typing import Any

from actors.apiserver import ApiServer
from actors.kubelet import Kubelet, Runtime, Workload
from actors.scheduler import Scheduler
from actors.shared.user import User
from testbed import Evidence, World, always
from testbed.objects import Map, Node, Pod

NODE = "n1"
RUNS_MS, LEAVES_MS = 2_000, 500
"""How long a task runs, and how long its node is busy with it afterwards."""
EVERY_MS = 3_000
"""A new task comes when nothing should be left of the one before."""
TASKS = 3


def task(name: str) -> Pod:
    """A pod that needs the whole node for a short time."""
    work = Workload(runs_ms=RUNS_MS, torn_down_after_ms=LEAVES_MS)
    return work.given_to(Pod.of(name, cpu_m=1000, restart_policy="Never"))


def no_task_is_refused(see: Evidence) -> str | None:
    """A pod that is bound to a node fits it: no kubelet rejects it."""
    for change in see.changes:
        pod: Any = change.after
        if isinstance(pod, Pod) and pod.status.reason.startswith("OutOf"):
            return f"{pod.spec.node_name} rejects {pod.key}: {pod.status.message}"
    return None


def grace_gap(world: World, *, guard: bool = False) -> None:
    """Tasks come one after another to a node that has room for one (kubernetes#106884).

    Until 1.23 a kubelet published that a pod is over when its containers had exited, and counted it
    until all of it was torn down. In between a scheduler gives the room away. Guarded, it publishes
    that afterwards (kubernetes PR#108366).

    Cause: the kubelet publishes that a pod is over before it has released its resources, so the
      scheduler no longer counts a pod that the kubelet still counts.
    Look for: task-1 is bound as soon as task-0 is over, and rejected at once.
    Source: kubernetes#106884, kubernetes PR#108366.
    Tags: write-order, two-views.
    """
    world.serve(ApiServer)
    world.serve(partial(Runtime, node=NODE))
    world.add(Node.of(NODE, cpu_m=1000))
    told = Map(publish_terminal="after_stop" if guard else "at_exit")
    world.start(Kubelet(f"kubelet-{NODE}", NODE, switches=told), Scheduler("default-scheduler"))
    tasks = tuple((n * EVERY_MS, task(f"task-{n}")) for n in range(TASKS))
    world.start(User("user", tasks))
    world.claim(always(no_task_is_refused))
