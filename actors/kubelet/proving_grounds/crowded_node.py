"""Crowded node: where a kubelet makes room for any pod that is more important than others (CTL-54).

Pods come one after another, each before the room of the one before is free: one that needs no more
than the room of a pod that is ending, one that displaces a pod which has not started yet, and a
small one for which no room need be made.
"""

from __future__ import annotations

from actors.kubelet.invariants import kubelet_claims
from actors.kubelet.kubelet import Kubelet
from actors.kubelet.proving_grounds.busy_nodes import HERE, Operators, make, remove, serve_node
from actors.kubelet.switches import LOWER
from testbed import World
from testbed.objects import Node, Pod, PriorityClass

RANKS = (5, 10, 50, 100, 1000)
"""The priorities that have a class."""


def crowded_node(world: World, kubelet: type[Kubelet] = Kubelet) -> None:
    """Assemble the World with such a kubelet, and claim all that must hold of it."""
    serve_node(world, Node.of(HERE, cpu_m=1000))
    world.add(*(PriorityClass(f"p{value}", value=value) for value in RANKS))
    world.start(kubelet(f"kubelet-{HERE}", HERE, switches={"preempts": LOWER}))
    world.add(_asking("low", 300, 0, 8), _asking("mid", 500, 5, 4), _asking("tiny", 100, 0, 1))
    high, higher = _asking("high", 600, 50, 3), _asking("higher", 400, 100, 3)
    small, top = _asking("small", 50, 0, 1), _asking("top", 800, 1000, 1)
    world.start(
        Operators("ann", (
            (1000, make(high)), (2000, make(small)), (3000, make(higher)), (6000, make(top)),
            (30_000, remove("top")), (33_000, make(_asking("late", 900, 10, 1))),
        )),
    )  # fmt: skip
    world.limit(virtual_ms_max=100_000)
    world.claim(*kubelet_claims())


def _asking(name: str, cpu_m: int, rank: int, grace_s: int) -> Pod:
    named = f"p{rank}" if rank else ""
    return Pod.of(name, cpu_m=cpu_m, priority_class_name=named, grace_s=grace_s, node_name=HERE)
