"""The objects of a cluster: frozen, integers only, no I/O, and one file for each family of kinds.

May use: errors.
In order: meta, quantity, calendar, plain, form, labels, condition, affinity, reference, note, pod,
  node, disruption_budget, priority, quota, charge, workload, lease, namespace, event, config,
  binding, kinds, codec, __init__, manifests.
"""

from testbed.objects.affinity import Affinity, Taint, Toleration
from testbed.objects.binding import Binding, DeleteOptions, Eviction, Preconditions, Target
from testbed.objects.condition import Condition
from testbed.objects.config import ConfigMap
from testbed.objects.disruption_budget import (
    PodDisruptionBudget,
    PodDisruptionBudgetSpec,
    PodDisruptionBudgetStatus,
)
from testbed.objects.event import Event
from testbed.objects.kinds import KINDS, kind_by_plural, kind_of
from testbed.objects.labels import LabelSelector, Requirement
from testbed.objects.lease import Lease, LeaseSpec
from testbed.objects.meta import UNSET, Map, Meta, Object, Owner, Revision
from testbed.objects.namespace import Namespace
from testbed.objects.node import Node, NodeSpec, NodeStatus, room_of
from testbed.objects.note import Note
from testbed.objects.pod import Container, Pod, PodSpec, PodStatus, Resources, qos_of, requests_of
from testbed.objects.priority import PriorityClass
from testbed.objects.quantity import Quantity
from testbed.objects.quota import (
    QuotaSpec,
    QuotaStatus,
    ResourceQuota,
    ScopedRequirement,
    ScopeSelector,
)
from testbed.objects.reference import Reference, reference_to
from testbed.objects.workload import (
    DaemonSet,
    DaemonSetSpec,
    Job,
    JobSpec,
    PodTemplate,
    ReplicaSet,
    ReplicaSetSpec,
)

__all__ = [
    "KINDS",
    "UNSET",
    "Affinity",
    "Binding",
    "Condition",
    "ConfigMap",
    "Container",
    "DaemonSet",
    "DaemonSetSpec",
    "DeleteOptions",
    "Event",
    "Eviction",
    "Job",
    "JobSpec",
    "LabelSelector",
    "Lease",
    "LeaseSpec",
    "Map",
    "Meta",
    "Namespace",
    "Node",
    "NodeSpec",
    "NodeStatus",
    "Note",
    "Object",
    "Owner",
    "Pod",
    "PodDisruptionBudget",
    "PodDisruptionBudgetSpec",
    "PodDisruptionBudgetStatus",
    "PodSpec",
    "PodStatus",
    "PodTemplate",
    "Preconditions",
    "PriorityClass",
    "Quantity",
    "QuotaSpec",
    "QuotaStatus",
    "Reference",
    "ReplicaSet",
    "ReplicaSetSpec",
    "Requirement",
    "ResourceQuota",
    "Resources",
    "Revision",
    "ScopeSelector",
    "ScopedRequirement",
    "Taint",
    "Target",
    "Toleration",
    "kind_by_plural",
    "kind_of",
    "qos_of",
    "reference_to",
    "requests_of",
    "room_of",
]
