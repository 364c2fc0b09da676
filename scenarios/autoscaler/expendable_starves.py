"""A pod waits for room that the autoscaler takes for free, and the scheduler does not."""

from __future__ import annotations

from typing import Any

from actors.apiserver import ApiServer
from actors.autoscaler import Autoscaler
from actors.cloud import Boot, NodeGroup, join_cloud
from actors.kubelet import Machine
from actors.scheduler import Scheduler
from actors.shared.user import User
from testbed import Evidence, World, quiescent
from testbed.objects import Map, Meta, Node, Pod, PriorityClass

COMES_MS, HORIZON_MS = 5_000, 30_000


def every_pod_runs(see: Evidence) -> str | None:
    """When nothing moves any more, no pod waits: the group could still grow."""
    for entry in see.store.snapshot("pods/"):
        pod: Any = entry.value
        if not pod.is_bound:
            return f"{pod.key} waits, and the group has room to grow"
    return None


def expendable_starves(world: World, *, guard: bool = False) -> None:
    """A polite pod comes to a node that an expendable one fills (cluster-autoscaler#6227).

    To the autoscaler an expendable pod is not there, since it gives way to everything: the new pod
    fits, and needs no node. But the new pod never preempts, so to the scheduler there is no room.
    Guarded, nothing that runs here is below the cutoff.
    """
    world.serve(ApiServer)
    template = Node.of("any", cpu_m=1000)
    group = NodeGroup("g", max_size=2, target=1, template=template, boots=(Boot(20_000),))
    join_cloud(world, group, machine=Machine)
    world.add(PriorityClass(Meta("spare"), value=-15))
    world.add(PriorityClass(Meta("polite"), value=0, preemption_policy="Never"))
    world.add(Pod.of("batch", cpu_m=1000, node_name="g-1", priority_class_name="spare"))
    world.start(Scheduler("default-scheduler"))
    told = Map(events="off", status="off", expendable_cutoff="-20" if guard else "-10")
    world.start(Autoscaler(switches=told))
    polite = Pod.of("polite", cpu_m=1000, priority_class_name="polite")
    world.start(User("user", ((COMES_MS, polite),)))
    world.limit(horizon_ms=HORIZON_MS)
    world.claim(quiescent(every_pod_runs))
    if not guard:
        world.needs_no_race = "the two differ over who gives way, however they are timed"
