"""At its maximum: a pod finds no room, and its node group may not grow, since it has as many nodes
as it may have; so the pod waits for ever."""

from __future__ import annotations

from typing import Any

from actors.apiserver import ApiServer
from actors.autoscaler import Autoscaler, AutoscalerSettings
from actors.cloud import Boot, NodeGroup, join_cloud
from actors.scheduler import Scheduler
from actors.shared.user import User
from testbed import Evidence, World, quiescent
from testbed.objects import Map, Node, Pod
from tests.told.frame import Told


def both_pods_have_a_node(see: Evidence) -> str | None:
    """In the end no pod waits."""
    pods: list[Any] = [entry.value for entry in see.store.snapshot("pods/")]
    waiting = [pod for pod in pods if not pod.is_bound]
    return f"{len(waiting)} of {len(pods)} pods waits for a node" if waiting else None


def at_its_maximum(world: World, *, guard: bool = False) -> None:
    """A group of one node at most; guarded, of three."""
    world.serve(ApiServer)
    template = Node.of("any", cpu_m=1000)
    most = 3 if guard else 1
    group = NodeGroup("g", max_size=most, target=1, template=template, boots=(Boot(5_000),))
    join_cloud(world, group)
    world.add(Pod.of("first", cpu_m=800, node_name="g-1"))
    world.start(Scheduler("default-scheduler"))
    told = Map(events="off", status="off")
    settings = AutoscalerSettings(passes_ms=(10_000, 20_000, 30_000))
    world.start(Autoscaler("autoscaler", settings, switches=told))
    world.start(User("ann", ((3_000, Pod.of("second", cpu_m=800)),)))
    world.claim(quiescent(both_pods_have_a_node))
    world.limit(until_ms=60_000)


TRUE = Told(
    at_its_maximum,
    actor=("autoscaler", "default-scheduler"),
    about=("pods/default/second", r"nodegroups/g\b", "group g"),
    words=("max", "no room", "Insufficient", "may not grow", "no node", "did not grow"),
    never=("^ann", "ann created .* and that broke it", "cloud-controller"),
    said=(
        "default-scheduler finds no node for pods/default/second, and autoscaler does not grow "
        "nodegroups/g, which has its max of 1 node."
    ),
)
