"""Node: a machine that runs pods."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Self

import attrs

from testbed.objects.affinity import Taint
from testbed.objects.condition import Condition
from testbed.objects.meta import Map, Object, named
from testbed.objects.quantity import Quantity, amounts, counted, milli, whole

HOSTNAME = "kubernetes.io/hostname"
"""The label with a node's own name: to spread by it is to spread over nodes."""


@attrs.frozen
class NodeSpec:
    """The desired state, set by its operator."""

    unschedulable: bool = False
    """Cordoned: only a pod that tolerates this is bound to it."""
    taints: tuple[Taint, ...] = ()
    """Keep pods away that do not tolerate them."""


@attrs.frozen
class NodeStatus:
    """The state that its kubelet reports."""

    capacity: Map[Quantity] = attrs.field(factory=Map, converter=amounts)
    """All that the machine has, by resource."""
    allocatable: Map[Quantity] = attrs.field(factory=Map, converter=amounts)
    """The part of it that pods may use."""
    conditions: tuple[Condition, ...] = ()
    """Ready, MemoryPressure and the like."""


@attrs.frozen
class Node(Object):
    """A machine that runs pods; cluster-scoped."""

    kind: ClassVar[str] = "Node"
    plural: ClassVar[str] = "nodes"
    is_namespaced: ClassVar[bool] = False

    spec: NodeSpec = NodeSpec()
    """What is wanted of it."""
    status: NodeStatus = NodeStatus()
    """What is observed of it."""

    @classmethod
    def of(
        cls,
        name: str,
        *,
        cpu_m: int = 0,
        memory: int = 0,
        pods: int = 110,
        labels: Mapping[str, str] | None = None,
        **spec: Any,
    ) -> Self:
        """A Node with this capacity, all of it allocatable; further fields of its spec by name."""
        has: Map[Quantity] = Map(
            {"cpu": milli(cpu_m), "memory": whole(memory), "pods": whole(pods)}
        )
        status = NodeStatus(capacity=has, allocatable=has)
        return cls(named(name, labels), spec=NodeSpec(**spec), status=status)


def room_of(node: Node) -> Map[int]:
    """What it has for pods, by resource: cpu in thousandths, the rest in whole units (GEN-11)."""
    return Map({name: counted(name, amount) for name, amount in node.status.allocatable.items()})
