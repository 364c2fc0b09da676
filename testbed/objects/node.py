"""Node: a machine pods run on."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Self

import attrs

from testbed.objects.affinity import Taint
from testbed.objects.condition import Condition
from testbed.objects.meta import Map, Object, named
from testbed.objects.quantity import Quantity, amounts, counted, milli, whole


@attrs.frozen
class NodeSpec:
    """What its operator wants of it."""

    unschedulable: bool = False
    """Cordoned: no new pod is bound to it unless it tolerates that."""
    taints: tuple[Taint, ...] = ()
    """What keeps pods away."""


@attrs.frozen
class NodeStatus:
    """What its kubelet says of it."""

    capacity: Map[Quantity] = attrs.field(factory=Map, converter=amounts)
    """All that it has, by resource."""
    allocatable: Map[Quantity] = attrs.field(factory=Map, converter=amounts)
    """What of that is there for pods."""
    conditions: tuple[Condition, ...] = ()


@attrs.frozen
class Node(Object):
    """A machine pods run on; it belongs to the whole cluster."""

    kind: ClassVar[str] = "Node"
    plural: ClassVar[str] = "nodes"
    is_namespaced: ClassVar[bool] = False

    spec: NodeSpec = NodeSpec()
    status: NodeStatus = NodeStatus()

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
        """One that has so much, all of it for pods; what else its spec says, by name."""
        has: Map[Quantity] = Map(
            {"cpu": milli(cpu_m), "memory": whole(memory), "pods": whole(pods)}
        )
        status = NodeStatus(capacity=has, allocatable=has)
        return cls(named(name, labels), spec=NodeSpec(**spec), status=status)


def room_of(node: Node) -> Map[int]:
    """What it has for pods, by resource: cpu in thousandths, all else in whole units (GEN-11)."""
    return Map({name: counted(name, amount) for name, amount in node.status.allocatable.items()})
