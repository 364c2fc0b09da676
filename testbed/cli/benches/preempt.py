"""bench preempt: preemptions per second of a scheduler, with few full nodes and with many."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import attrs

from testbed.cli.benches import cycles
from testbed.errors import ScenarioError
from testbed.objects import Node, Pod
from testbed.objects.pod import RUNNING, PodStatus
from testbed.world.world import World

NODES = (100, 1_000, 5_000)
PODS = 500
HERE = 8
"""The number of pods that fill a node."""


def length(nodes: Sequence[int] = NODES, rounds: int = cycles.ROUNDS, **_: Any) -> int:
    """The number of Worlds to play, for the progress bar."""
    return rounds * len(nodes)


def measure(
    nodes: Sequence[int] = NODES, pods: int = PODS, rounds: int = cycles.ROUNDS, done: Any = int
) -> dict[str, Any]:
    """All preemptors come at once. Each needs one victim, and no victim has ended yet."""
    if pods > HERE * min(nodes):
        raise ScenarioError(
            f"--pods {pods} --nodes {min(nodes)}: there are {HERE * min(nodes)} pods to evict; "
            f"expected as many as come, {HERE} on each node.\n"
            f"Next: testbed bench preempt --pods {HERE * min(nodes)} --nodes {min(nodes)}"
        )
    return cycles.measure(fill, nodes, pods, rounds, done)


def fill(world: World, nodes: int, pods: int) -> None:
    """Nodes full of pods of low priority, and pending pods of high priority."""
    for number in range(nodes):
        world.add(Node.of(f"n{number}", cpu_m=HERE * 1000))
        for nth in range(HERE):
            pod = Pod.of(f"low-{number}-{nth}", cpu_m=1000, priority=0, node_name=f"n{number}")
            world.add(attrs.evolve(pod, status=PodStatus(phase=RUNNING, start_ms=0)))
    for number in range(pods):
        world.add(Pod.of(f"p{number}", cpu_m=1000, priority=100))
