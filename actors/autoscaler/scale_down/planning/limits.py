"""Limits: how much of the cluster's cpu and memory may still be removed."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Self

import attrs

from actors.autoscaler.node_capacity import amounts_of
from actors.autoscaler.scale_down.taints import is_going
from actors.framework.podinfo import MEMORY
from testbed.objects import Node
from testbed.objects.quantity import CPU


@attrs.frozen
class Removable:
    """How many cores and how many bytes may go; None: any."""

    cores: int | None = None
    memory: int | None = None

    @classmethod
    def of(cls, nodes: Iterable[Node], min_cores: int, min_memory: int, now_ms: int) -> Self:
        """What these nodes have beyond the minimum; those being deleted do not count."""
        staying = [node for node in nodes if not is_going(node, now_ms)]
        amounts = [amounts_of(node) for node in staying]
        cores, memory = (sum(each[name] for each in amounts) for name in (CPU, MEMORY))
        return cls(
            max(cores - min_cores, 0) if min_cores > 0 else None,
            max(memory - min_memory, 0) if min_memory > 0 else None,
        )

    def allows(self, node: Node) -> bool:
        """Whether that node may go."""
        amounts = amounts_of(node)
        return _fits(amounts[CPU], self.cores) and _fits(amounts[MEMORY], self.memory)

    def without(self, node: Node) -> Self:
        """What may go once that node has gone."""
        amounts = amounts_of(node)
        return attrs.evolve(
            self,
            cores=None if self.cores is None else self.cores - amounts[CPU],
            memory=None if self.memory is None else self.memory - amounts[MEMORY],
        )


def _fits(amount: int, left: int | None) -> bool:
    return left is None or amount <= max(left, 0) or amount == 0
