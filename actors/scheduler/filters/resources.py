"""NodeResourcesFit: a node has room for all that a pod asks for (SCH-58)."""

from __future__ import annotations

import attrs

from actors.scheduler.decision import Refusal
from actors.scheduler.filter import NODE_ADDED, NODE_UPDATED, POD_DELETED, Filter, State
from actors.scheduler.nodeinfo import NodeInfo
from actors.scheduler.podinfo import EPHEMERAL, MEMORY, PODS, PodInfo
from actors.scheduler.snapshot import Snapshot
from testbed.objects.quantity import CPU


@attrs.frozen
class Asked:
    """What is compared, in the order in which it is told."""

    amounts: tuple[tuple[str, int], ...]
    """Each resource; none, if the pod asks for nothing at all."""


class NodeResourcesFit(Filter):
    """Refuses nodes that have not enough left of something.

    What is asked for is compared with what is not yet asked for: nobody knows what is used.
    """

    name = "NodeResourcesFit"
    wakes = NODE_UPDATED | {NODE_ADDED, POD_DELETED}

    def prepare(self, pod: PodInfo, snapshot: Snapshot) -> State:
        return asked_by(pod)

    def check(self, state: State, node: NodeInfo) -> Refusal | None:
        has, taken = node.allocatable, node.requested
        lacking = [
            name for name, amount in state.amounts if amount > has.get(name, 0) - taken.get(name, 0)
        ]
        is_crowded = len(node.pods) + 1 > has.get(PODS, 0)
        if not lacking and not is_crowded:
            return None
        crowded = ("Too many pods",) if is_crowded else ()
        return self.no(*crowded, *(f"Insufficient {name}" for name in lacking))


def asked_by(pod: PodInfo) -> Asked:
    """What a node must have for a pod. One that asks for anything is refused by a node that has
    less than nothing left of cpu, memory or ephemeral storage, even if it asks for none of it."""
    asked = pod.requests
    beyond = sorted(name for name in asked if name not in (CPU, MEMORY, EPHEMERAL))
    if not beyond and not any(asked.values()):
        return Asked(())
    return Asked(tuple((name, asked.get(name, 0)) for name in (CPU, MEMORY, EPHEMERAL, *beyond)))
