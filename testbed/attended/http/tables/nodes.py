"""The columns of a node."""

from __future__ import annotations

from typing import Any

from testbed.attended.http.tables.age import UNKNOWN
from testbed.attended.http.tables.column import AGE, NAME, NONE, Column, beside, wide
from testbed.objects.condition import find
from testbed.objects.node import Node

ROLE, OLD_ROLE = "node-role.kubernetes.io/", "kubernetes.io/role"


def status(node: Node, _: int = 0) -> str:
    """Ready, NotReady or Unknown; and whether it is cordoned."""
    ready = find(node.status.conditions, "Ready")
    said = "Unknown" if ready is None else "Ready" if ready.is_true else "NotReady"
    return f"{said},SchedulingDisabled" if node.spec.unschedulable else said


def _roles(node: Node, _: int) -> str:
    found = {name.removeprefix(ROLE) for name in node.meta.labels if name.startswith(ROLE)}
    found.add(node.meta.labels.get(OLD_ROLE, ""))
    return ",".join(sorted(found - {""})) or NONE


def _info(node: Node, name: str) -> str:
    """What its kubelet says of the machine, if it says that."""
    info: Any = beside(node, "status", "nodeInfo") or {}
    return str(info.get(name, ""))


def _address(node: Node, type: str) -> str:
    found = beside(node, "status", "addresses") or ()
    return next((str(each["address"]) for each in found if each.get("type") == type), NONE)


NODE: tuple[Column, ...] = (
    NAME,
    Column("Status", status),
    Column("Roles", _roles),
    AGE,
    Column("Version", lambda node, _: _info(node, "kubeletVersion")),
    wide("Internal-IP", lambda node, _: _address(node, "InternalIP")),
    wide("External-IP", lambda node, _: _address(node, "ExternalIP")),
    wide("OS-Image", lambda node, _: _info(node, "osImage") or UNKNOWN),
    wide("Kernel-Version", lambda node, _: _info(node, "kernelVersion") or UNKNOWN),
    wide("Container-Runtime", lambda node, _: _info(node, "containerRuntimeVersion") or UNKNOWN),
)
