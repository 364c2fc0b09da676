"""A pod is nominated, and a node is added for it all the same."""

from __future__ import annotations

from typing import Any

from actors.apiserver import ApiServer
from actors.autoscaler import Autoscaler, AutoscalerSettings
from actors.cloud import Boot, NodeGroup, join_cloud
from actors.scheduler import Scheduler
from actors.shared.user import User
from testbed import Evidence, World, always
from testbed.objects import Map, Meta, Node, Pod, PriorityClass

COMES_MS = 7_000
"""When the pod comes: the first pass of the autoscaler is at 10 s, and passes over younger pods."""
PASSES_MS = (10_000, 20_000)
"""A few passes say it all, and a Run ends even if the cloud is dead."""


def no_node_is_wanted(see: Evidence) -> str | None:
    """The group wants no second node: preemption makes the room that is needed, as long as no
    request of the scheduler fails."""
    entry = see.store.peek("nodegroups/g")
    group: Any = entry and entry.value
    if group.target > 1 and not see.last_fault_ms:
        return f"{group.name} wants {group.target} nodes"
    return None


def scale_up_suppressed(world: World, *, guard: bool = False) -> None:
    """A pod preempts another one, and a node is added for it all the same (kubernetes PR#89111).

    Before that change it wrote that a pod is unschedulable, and then where it is nominated. A
    pass in between sees a pod that waits for nothing, and asks for a node: the victim dies, and
    the node comes, too. Guarded, both stand in one write.

    Cause: the scheduler writes that a pod is unschedulable before it writes the nomination, and a
      pass of the autoscaler may come between the two.
    Look for: the autoscaler is told that the pod is unschedulable, and asks for a node before it is
      told of the nomination.
    Source: kubernetes PR#89111.
    Tags: nomination, write-order, priority, scale-up.
    """
    world.serve(ApiServer)
    template = Node.of("any", cpu_m=1000)
    group = NodeGroup("g", max_size=2, target=1, template=template, boots=(Boot(20_000),))
    join_cloud(world, group)
    world.add(PriorityClass(Meta("high"), value=1000))
    world.add(Pod.of("batch", cpu_m=1000, grace_s=30, node_name="g-1"))
    storage = Map(nnn_storage="status" if guard else "annotation")
    world.start(Scheduler("default-scheduler", switches=storage))
    quiet = Map(events="off", status="off")
    world.start(Autoscaler(settings=AutoscalerSettings(passes_ms=PASSES_MS), switches=quiet))
    urgent = Pod.of("urgent", cpu_m=1000, priority_class_name="high")
    world.start(User("user", ((COMES_MS, urgent),)))
    world.claim(always(no_node_is_wanted, reads=("log:nodegroups",)))
