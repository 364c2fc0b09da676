"""The objects a cluster is made of: frozen, integers only, no I/O; one file per family."""

from testbed.objects.affinity import Affinity, Taint, Toleration
from testbed.objects.condition import Condition
from testbed.objects.labels import LabelSelector, Requirement
from testbed.objects.meta import UNSET, Map, Meta, Object, Owner, Revision
from testbed.objects.node import Node, NodeSpec, NodeStatus, room_of
from testbed.objects.note import Note
from testbed.objects.pod import Container, Pod, PodSpec, PodStatus, Resources, qos_of, requests_of
from testbed.objects.quantity import Quantity

__all__ = [
    "UNSET",
    "Affinity",
    "Condition",
    "Container",
    "LabelSelector",
    "Map",
    "Meta",
    "Node",
    "NodeSpec",
    "NodeStatus",
    "Note",
    "Object",
    "Owner",
    "Pod",
    "PodSpec",
    "PodStatus",
    "Quantity",
    "Requirement",
    "Resources",
    "Revision",
    "Taint",
    "Toleration",
    "qos_of",
    "requests_of",
    "room_of",
]
