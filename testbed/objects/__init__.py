"""The objects a cluster is made of: frozen, integers only, no I/O; one file per family."""

from testbed.objects.meta import UNSET, Map, Meta, Object, Revision
from testbed.objects.node import Node, NodeSpec, NodeStatus
from testbed.objects.note import Note
from testbed.objects.pod import Pod, PodSpec, PodStatus

__all__ = [
    "UNSET",
    "Map",
    "Meta",
    "Node",
    "NodeSpec",
    "NodeStatus",
    "Note",
    "Object",
    "Pod",
    "PodSpec",
    "PodStatus",
    "Revision",
]
