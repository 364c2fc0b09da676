"""Node capacity: the cores and the memory that a node counts for against limits of the cluster."""

from __future__ import annotations

from collections.abc import Mapping

from actors.framework.podinfo import MEMORY
from testbed.objects import Node
from testbed.objects.quantity import CPU

Amounts = Mapping[str, int]
"""Whole cores and bytes, by resource."""


def amounts_of(node: Node) -> Amounts:
    """The cores of a node, a part of one counted as one, and its bytes of memory."""
    capacity = node.status.capacity
    return {name: max(capacity[name].whole, 0) if name in capacity else 0 for name in (CPU, MEMORY)}
