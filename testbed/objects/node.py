"""Node: a machine pods run on."""

from __future__ import annotations

from typing import ClassVar

import attrs

from testbed.objects.meta import Object


@attrs.frozen
class NodeSpec:
    """What its operator wants of it."""

    unschedulable: bool = False
    """Cordoned: no new pod is bound to it."""


@attrs.frozen
class NodeStatus:
    """What its kubelet says of it."""

    cpu_m: int = 0
    """The cpu its pods may ask for in all, in thousandths."""


@attrs.frozen
class Node(Object):
    """A machine pods run on; it belongs to the whole cluster."""

    kind: ClassVar[str] = "Node"
    plural: ClassVar[str] = "nodes"
    is_namespaced: ClassVar[bool] = False

    spec: NodeSpec = NodeSpec()
    status: NodeStatus = NodeStatus()
