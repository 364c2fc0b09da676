"""bench schedule: pods that a scheduler places per second, with few nodes and with many."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from testbed.cli.benches import cycles
from testbed.objects import Node, Pod
from testbed.world.world import World

NODES = (100, 1_000, 5_000)
PODS = 2_000
GI = 1 << 30


def length(nodes: Sequence[int] = NODES, rounds: int = cycles.ROUNDS, **_: Any) -> int:
    """The number of Worlds to play, for the progress bar."""
    return rounds * len(nodes)


def measure(
    nodes: Sequence[int] = NODES, pods: int = PODS, rounds: int = cycles.ROUNDS, done: Any = int
) -> dict[str, Any]:
    """All pods come at once, and every node has room for each of them."""
    return cycles.measure(fill, nodes, pods, rounds, done)


def fill(world: World, nodes: int, pods: int) -> None:
    """Nodes in three zones, and small pods."""
    for number in range(nodes):
        labels = {"topology.kubernetes.io/zone": f"z{number % 3}"}
        room = max(32_000, pods * 300 // nodes)
        world.add(Node.of(f"n{number}", cpu_m=room, memory=room * GI // 500, labels=labels))
    for number in range(pods):
        world.add(Pod.of(f"p{number}", cpu_m=100, memory=GI // 8))
