"""Full node: where the OOM killer is judged, its pods want more memory than it has.

A guaranteed pod grows, at the cost of others; one of them is best effort, one is over its request,
and one passes its own limit. What is killed comes back until there is room for it.
"""

from __future__ import annotations

import attrs

from actors.kubelet.eviction import EvictionSettings
from actors.kubelet.invariants import kubelet_claims
from actors.kubelet.kubelet import Kubelet
from actors.kubelet.proving_grounds.busy_nodes import HERE, Operators, make, remove, serve_node
from actors.kubelet.proving_grounds.short_node import MI, using
from actors.kubelet.runtime import Runtime
from actors.kubelet.switches import SCORE
from testbed import World
from testbed.objects import Node, Pod
from testbed.objects.pod import Resources
from testbed.objects.quantity import amounts

SETTINGS = EvictionSettings((), system={"memory": "200Mi"})
"""It never evicts; but not all memory of the node is there for pods."""


def full_node(
    world: World, kubelet: type[Kubelet] = Kubelet, runtime: type[Runtime] = Runtime
) -> None:
    """Assemble the World with such a kubelet and runtime, and claim all that must hold of it."""
    serve_node(world, Node.of(HERE, cpu_m=1000, memory=2000 * MI), runtime)
    world.add(
        _limited(using("guaranteed", "0s=300Mi 20s=600Mi 90s=800Mi", 800, 0), "1m", "800Mi"),
        _limited(using("leaky", "0s=50Mi 30s=150Mi", 50, 0), None, "100Mi"),
        using("within", "500Mi | 0s=400Mi 50s=600Mi", 600, 0),
        using("greedy", "0s=100Mi 15s=400Mi", 100, 10),
        using("best-effort", "0s=100Mi 25s=350Mi | 200Mi", None, 20),
    )
    switches = {"oom_model": SCORE}
    world.start(kubelet(f"kubelet-{HERE}", HERE, eviction=SETTINGS, switches=switches))
    late = using("late", "0s=10Mi 5s=300Mi", 50, None)
    world.start(
        Operators("ann", (
            (40_000, make(late)), (100_000, remove("greedy")), (130_000, remove("leaky")),
            (150_000, remove("guaranteed")),
        )),
    )  # fmt: skip
    world.limit(virtual_ms_max=400_000)
    world.claim(*kubelet_claims())


def _limited(pod: Pod, cpu: str | None, memory: str) -> Pod:
    """The pod with a limit of memory; with one of cpu, too, it is guaranteed."""
    (main,) = pod.spec.containers
    limits = amounts({"memory": memory} if cpu is None else {"cpu": cpu, "memory": memory})
    requests = main.resources.requests if cpu is None else limits
    main = attrs.evolve(main, resources=Resources(requests, limits))
    return attrs.evolve(pod, spec=attrs.evolve(pod.spec, containers=(main,)))
