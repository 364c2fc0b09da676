"""Least waste: the expansion that leaves the least cpu and memory unused."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar

from actors.autoscaler.expander import Expander, Expansion, container_requests
from actors.framework.podinfo import MEMORY
from testbed.objects import ConfigMap
from testbed.objects.quantity import CPU, counted


class LeastWasteExpander(Expander):
    """Keeps those that waste the least: the unused share of cpu, plus that of memory. It counts the
    capacity of nodes, not what they have for pods, and the containers of the helped pods."""

    name: ClassVar[str] = "least-waste"

    def best(
        self, expansions: Sequence[Expansion], config: Mapping[str, ConfigMap]
    ) -> Sequence[Expansion]:
        wastes = [_waste(each) for each in expansions]
        least = min(wastes, default=None)
        return [each for each, waste in zip(expansions, wastes, strict=True) if waste == least]


def _waste(expansion: Expansion) -> float:
    # A float, because the rounding of 1.26 decides between two that waste the same.
    capacity = expansion.template.node.status.capacity
    waste = 0.0
    for resource in (CPU, MEMORY):
        amount = capacity.get(resource)
        there = expansion.nodes * (0 if amount is None else counted(resource, amount))
        asked = sum(container_requests(pod, resource) for pod in expansion.pods)
        waste += (there - asked) / there if there else 1.0
    return waste
