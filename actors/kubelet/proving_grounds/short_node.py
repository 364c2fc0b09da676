"""Short node: where eviction is judged, a node on which pods use more and more memory.

A critical pod has no statistics. A pod of low priority stays within its request. A soft threshold
is met for a while before a hard one is. Of some pods the usage is drawn.
"""

from __future__ import annotations

from actors.kubelet.eviction import EvictionSettings, Threshold
from actors.kubelet.invariants import kubelet_claims
from actors.kubelet.kubelet import Kubelet
from actors.kubelet.proving_grounds.busy_nodes import HERE, Operators, make, remove, serve_node
from actors.kubelet.usage import PREFIX
from actors.shared.critical import CRITICAL_FROM
from testbed import World
from testbed.objects import Map, Node, Pod

MI = 2**20
SETTINGS = EvictionSettings(
    (
        Threshold.of("memory.available", "50Mi", reclaim="100Mi"),
        Threshold.of("memory.available", "200Mi", grace_ms=20_000),
    ),
    max_pod_grace_s=2,
)


def short_node(world: World, kubelet: type[Kubelet] = Kubelet) -> None:
    """Assemble the World with such a kubelet, and claim all that must hold of it."""
    serve_node(world, Node.of(HERE, cpu_m=1000, memory=2000 * MI))
    world.start(kubelet(f"kubelet-{HERE}", HERE, eviction=SETTINGS))
    world.add(
        using("system", "unknown", None, CRITICAL_FROM),
        using("within", "400Mi | 0s=400Mi 35s=900Mi", 500, 0),
        using("growing", "0s=300Mi 30s=650Mi | 0s=300Mi 10s=1200Mi", 100, 5),
        using("greedy", "0s=400Mi 70s=900Mi | 400Mi", 100, 10),
        using("big", "400Mi | unknown", None, 20),
    )  # fmt: skip
    late = using("late", "0s=10Mi 20s=400Mi | 1200Mi", 50, None)
    world.start(
        Operators("ann", ((61_000, make(late)), (400_000, remove("greedy")))),
    )
    world.limit(virtual_ms_max=1_200_000)
    world.claim(*kubelet_claims())


def using(name: str, memory: str, asked_mi: int | None, priority: int | None) -> Pod:
    """A pod on that node with this request for memory, and this usage of it."""
    asked = None if asked_mi is None else asked_mi * MI
    pod = Pod.of(name, memory=asked, grace_s=3, node_name=HERE, priority=priority)
    return pod.with_meta(annotations=Map({f"{PREFIX}memory": memory}))
