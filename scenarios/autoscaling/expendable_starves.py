"""A pod waits for room that the autoscaler takes for free, and the scheduler does not."""

from __future__ import annotations

from typing import Any

from actors.apiserver import ApiServer
from actors.autoscaler import Autoscaler, AutoscalerSettings
from actors.autoscaler.invariants.passes import autoscalers
from actors.autoscaler.pass_record import SCHEDULABLE, PassRecord
from actors.cloud import Boot, NodeGroup, join_cloud
from actors.scheduler import Scheduler
from actors.shared.user import User
from testbed import Evidence, Found, World, always
from testbed.objects import Map, Meta, Node, Pod, PriorityClass, requests_of, room_of

COMES_MS = 5_000
PASSES_MS = (10_000, 20_000)
"""A few passes say it all, and a Run ends even if the cloud is dead."""


def no_room_is_imagined(see: Evidence) -> Found | None:
    """Where the autoscaler finds room for a pod, there is room: for it and for all that is bound
    there."""
    for role in autoscalers(see):
        record: PassRecord | None = role.life.shown.get("pass")
        for key, fate in record.pods.items() if record is not None else ():
            if fate.fate == SCHEDULABLE and (entry := see.store.peek(f"nodes/{fate.node}")):
                pods: list[Any] = [each.value for each in see.store.snapshot("pods/")]
                here = [p for p in pods if p.key == f"pods/{key}" or p.spec.node_name == fate.node]
                asked_m = sum(requests_of(pod)["cpu"] for pod in here)
                node: Any = entry.value
                if asked_m > room_of(node)["cpu"]:
                    text = f"{key} gets no node, since it is to fit on {fate.node}, which is full"
                    return Found(text, reason="missing")
    return None


def expendable_starves(world: World, *, guard: bool = False) -> None:
    """A polite pod comes to a node that an expendable one fills (cluster-autoscaler#6227).

    To the autoscaler an expendable pod is not there, since it gives way to everything: the new pod
    fits, and needs no node. But the new pod never preempts, so to the scheduler there is no room.
    Guarded, nothing that runs here is below the cutoff.

    Cause: the autoscaler leaves expendable pods out of its count, also for a pod that by its
      preemptionPolicy never displaces them.
    Look for: the autoscaler asks for no node, since the pod fits on g-1, where the scheduler has
      found too little cpu.
    Source: cluster-autoscaler#6227.
    Tags: starvation, two-views, no-timing, priority, scale-up.
    """
    world.serve(ApiServer)
    template = Node.of("any", cpu_m=1000)
    group = NodeGroup("g", max_size=2, target=1, template=template, boots=(Boot(20_000),))
    join_cloud(world, group)
    world.add(PriorityClass(Meta("spare"), value=-15))
    world.add(PriorityClass(Meta("polite"), value=0, preemption_policy="Never"))
    world.add(Pod.of("batch", cpu_m=1000, node_name="g-1", priority_class_name="spare"))
    world.start(Scheduler("default-scheduler"))
    told = Map(events="off", status="off", expendable_cutoff="-20" if guard else "-10")
    world.start(Autoscaler(settings=AutoscalerSettings(passes_ms=PASSES_MS), switches=told))
    polite = Pod.of("polite", cpu_m=1000, priority_class_name="polite")
    world.start(User("user", ((COMES_MS, polite),)))
    world.claim(always(no_room_is_imagined))
    if not guard:
        world.needs_no_race = "the two differ over who gives way, however they are timed"
