"""Limits: how much of the cluster's cpu and memory may still be removed."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Self

import attrs

from actors.autoscaler.scale_down.taints import is_going
from actors.framework.podinfo import MEMORY
from testbed.objects import Node
from testbed.objects.quantity import CPU


def cores_of(node: Node) -> int:
    """The whole cores of a node, a part of one counted as one."""
    return _capacity(node, CPU)


def memory_of(node: Node) -> int:
    """The memory of a node, in bytes."""
    return _capacity(node, MEMORY)


def _capacity(node: Node, resource: str) -> int:
    amount = node.status.capacity.get(resource)
    return 0 if amount is None else max(amount.whole, 0)


@attrs.frozen
class Removable:
    """How many cores and how many bytes may go; None: any."""

    cores: int | None = None
    memory: int | None = None

    @classmethod
    def of(cls, nodes: Iterable[Node], min_cores: int, min_memory: int, now_ms: int) -> Self:
        """What these nodes have beyond the minimum; those being deleted do not count."""
        staying = [node for node in nodes if not is_going(node, now_ms)]
        cores, memory = sum(map(cores_of, staying)), sum(map(memory_of, staying))
        return cls(
            max(cores - min_cores, 0) if min_cores > 0 else None,
            max(memory - min_memory, 0) if min_memory > 0 else None,
        )

    def allows(self, node: Node) -> bool:
        """Whether that node may go."""
        return _fits(cores_of(node), self.cores) and _fits(memory_of(node), self.memory)

    def without(self, node: Node) -> Self:
        """What may go once that node has gone."""
        return attrs.evolve(
            self,
            cores=None if self.cores is None else self.cores - cores_of(node),
            memory=None if self.memory is None else self.memory - memory_of(node),
        )


def _fits(amount: int, left: int | None) -> bool:
    return left is None or amount <= max(left, 0) or amount == 0
