"""Departing nodes: a cluster that has more nodes than it needs, and grows elsewhere meanwhile.

The claims about departing nodes are checked in it, and their mutants are hunted in it.
"""

from __future__ import annotations

from collections.abc import Callable

from actors.apiserver.server import ApiServer
from actors.autoscaler.autoscaler import Autoscaler
from actors.autoscaler.invariants import departure_claims
from actors.autoscaler.settings import AutoscalerSettings
from actors.cloud import Boot, NodeGroup, join_cloud
from actors.controllers.replicaset import ReplicaSetController
from actors.kubelet import Machine
from actors.scheduler import Scheduler
from actors.shared.user import User
from testbed import World
from testbed.objects import LabelSelector, Map, Meta, Node, Pod, ReplicaSet
from testbed.objects.workload import PodTemplate, ReplicaSetSpec

SETTINGS = AutoscalerSettings(
    unneeded_time_ms=20_000, unremovable_recheck_ms=20_000, delay_after_add_ms=40_000
)
GROWS_MS = 15_000
"""When a pod comes that only a node of the other group takes."""
POOL = Map(pool="other")
Made = Callable[..., Autoscaler]


def departing_nodes(world: World, autoscaler: Made = Autoscaler) -> None:
    """Assemble the World, with this autoscaler, and claim all that it owes."""
    world.serve(ApiServer)
    join_cloud(
        world,
        NodeGroup("g", target=3, max_size=3, template=Node.of("any", cpu_m=1000)),
        NodeGroup("h", max_size=1, template=Node.of("any", cpu_m=1000, labels=POOL),
                  boots=(Boot(5_000),)),
        machine=Machine,
    )  # fmt: skip
    labels = Map(app="web")
    template = PodTemplate(Meta(labels=labels), Pod.of("any", cpu_m=300, grace_s=10).spec)
    selector = LabelSelector(labels)
    spec = ReplicaSetSpec(replicas=1, selector=selector, template=template)
    world.add(ReplicaSet("web", spec=spec), Pod.of("busy", cpu_m=600, node_name="g-2"))
    quiet = Map(events="off", status="off")
    world.start(
        Scheduler("default-scheduler"),
        ReplicaSetController("replicaset-controller", switches=Map(events="off")),
        autoscaler(settings=SETTINGS, switches=quiet),
        User("user", ((GROWS_MS, Pod.of("other", cpu_m=500, node_selector=POOL)),)),
    )  # fmt: skip
    world.claim(*departure_claims(SETTINGS))
