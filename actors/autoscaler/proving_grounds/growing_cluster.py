"""Growing cluster: pods wait for every reason there is, and for three groups of nodes.

The claims about growth are checked in it, and their mutants are hunted in it. The nodes have no
kubelets; some of the pods are left alone by every scheduler, so that they go on waiting.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import attrs

from actors.apiserver.server import ApiServer
from actors.autoscaler.autoscaler import Autoscaler
from actors.autoscaler.invariants import autoscaler_claims
from actors.autoscaler.settings import AutoscalerSettings
from actors.cloud import Boot, NodeGroup, join_cloud
from actors.scheduler import Scheduler
from actors.shared.user import User
from testbed import World
from testbed.objects import Condition, Map, Node, Pod, PodStatus, Taint, Toleration
from testbed.objects.node import HOSTNAME

SETTINGS = AutoscalerSettings(
    unneeded_time_ms=20_000, unremovable_recheck_ms=20_000, delay_after_add_ms=0,
    initial_backoff_ms=30_000, max_backoff_ms=60_000,
)  # fmt: skip
LIMITED = attrs.evolve(SETTINGS, max_nodes_total=5)
"""The same, where the cluster may have one node more than it begins with."""
ASKS_MS, FOLLOWS_MS, AWAKES_MS = 3_000, 12_000, 140_000
"""When three pods come: one that only the refusing group can help; one that needs another node
while some are on their way; and one after there was nothing to do for a long time."""
H, HERE = Map(pool="h"), Map({HOSTNAME: "k-1"})
APART, LET_IN = Taint("pool", "", "NoSchedule"), (Toleration("pool", "Exists"),)
"""The taint that keeps pods off the nodes of h and k, and what tolerates it."""
LIFE_MS = 900_000
"""When it ends, if it does not come to rest before."""
SCARCE = -20
"""A priority below the cutoff."""
Made = Callable[..., Autoscaler]


def growing_cluster(
    world: World, autoscaler: Made = Autoscaler, settings: AutoscalerSettings = SETTINGS
) -> None:
    """Assemble the World, with this autoscaler, and claim all that it owes.

    Group g grows for those that fit nowhere; h refuses at first; k has a node more than it needs.
    """
    world.serve(ApiServer)
    join_cloud(
        world,
        NodeGroup("g", min_size=1, max_size=8, target=1, template=Node.of("any", cpu_m=1000),
                  boots=(Boot(15_000),)),
        NodeGroup("h", max_size=2, template=Node.of("any", cpu_m=1000, labels=H, taints=(APART,)),
                  boots=(Boot(5_000),), increase_errors=1),
        NodeGroup("k", min_size=2, max_size=3, target=3,
                  template=Node.of("any", cpu_m=1000, taints=(APART,))),
    )  # fmt: skip
    world.add(
        Pod.of("busy", cpu_m=1000, node_name="g-1"),
        _waiting("spare", cpu_m=900, priority=SCARCE),
        _waiting("patient", nominated="g-1", cpu_m=900),
        _waiting("dangling", nominated="ghost", cpu_m=500, node_selector=H, tolerations=LET_IN),
        _waiting("placed", cpu_m=600, node_selector=HERE, tolerations=LET_IN),
        Pod.of("a", cpu_m=600), Pod.of("b", cpu_m=600), Pod.of("c", cpu_m=900),
        Pod.of("d", cpu_m=900), Pod.of("e", cpu_m=900),
    )  # fmt: skip
    picky = Pod.of("picky", cpu_m=500, node_selector=H, tolerations=LET_IN)
    world.start(
        Scheduler("default-scheduler"),
        autoscaler(settings=settings, switches=Map(events="off", status="off")),
        User("user", ((ASKS_MS, picky), (FOLLOWS_MS, Pod.of("f", cpu_m=900)),
                      (AWAKES_MS, Pod.of("z", cpu_m=900)))),
    )  # fmt: skip
    world.limit(virtual_ms_max=LIFE_MS)
    world.claim(*autoscaler_claims(settings))


def _waiting(name: str, nominated: str = "", **given: Any) -> Pod:
    """A pod for which a scheduler has found no node, and that no scheduler looks at again."""
    conditions = (Condition("PodScheduled", "False", reason="Unschedulable"),)
    status = PodStatus("Pending", conditions=conditions, nominated_node_name=nominated)
    return attrs.evolve(Pod.of(name, scheduler_name="none", **given), status=status)
