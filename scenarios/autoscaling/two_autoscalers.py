"""Two autoscalers each add a node for the same pod."""

from __future__ import annotations

from typing import Any

from actors.apiserver import ApiServer
from actors.autoscaler import Autoscaler, AutoscalerSettings
from actors.cloud import Boot, NodeGroup, join_cloud
from actors.scheduler import Scheduler
from actors.shared.user import User
from testbed import Evidence, Found, World, always
from testbed.objects import Map, Node, Pod

COMES_MS = 3_000
PASSES_MS = (10_000, 20_000)
"""A few passes say it all, and a Run ends even if the cloud is dead."""


def one_node_is_enough(see: Evidence) -> Found | None:
    """The group wants one node more than it had: one pod came, and it fits one node."""
    entry = see.store.peek("nodegroups/g")
    group: Any = entry and entry.value
    if group.target > 2:
        text = f"{group.name} wants {group.target} nodes for one pod that waits"
        return Found(text, reason="too many")
    return None


def two_autoscalers(world: World, *, guard: bool = False) -> None:
    """Two replicas of the autoscaler run, and a pod finds no room.

    Each reads the groups at the start of its pass, and asks the cloud for one node more. If both
    have read before either asks, the cloud has nothing by which to tell that they mean the same
    node. Guarded, it is told a size and not a difference, as by most providers.

    Cause: the cloud is asked for one node more and not for a size, so it cannot tell that two
      replicas mean the same node.
    Look for: nodegroups/g grows from 1 to 2 and from 2 to 3, for one pod.
    Source: none; a classic, against which replicas elect a leader.
    Tags: check-then-act, double-count, scale-up.
    """
    world.serve(ApiServer)
    template = Node.of("any", cpu_m=1000)
    group = NodeGroup(
        "g", max_size=3, target=1, template=template, boots=(Boot(20_000),), is_told_sizes=guard
    )
    join_cloud(world, group)
    world.add(Pod.of("first", cpu_m=1000, node_name="g-1"))
    world.start(Scheduler("default-scheduler"))
    told = Map(events="off", status="off")
    for name in ("autoscaler-a", "autoscaler-b"):
        world.start(Autoscaler(name, AutoscalerSettings(passes_ms=PASSES_MS), switches=told))
    world.start(User("user", ((COMES_MS, Pod.of("second", cpu_m=1000)),)))
    world.claim(always(one_node_is_enough, reads=("log:nodegroups",)))
