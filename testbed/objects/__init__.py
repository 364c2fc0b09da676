"""The objects of a cluster: frozen, integers only, no I/O, and one file for each family of kinds.

May use: errors.
In order: meta, fitting, quantity, calendar, plain, form, dotted, labels, condition, affinity,
  reference, note, pod, node, disruption_budget, priority, quota, charge, workload, lease,
  namespace, event, config, binding, kinds, codec, __init__, manifests.
"""

from testbed.objects.affinity import (
    Affinity,
    NodeAffinity,
    NodeSelector,
    NodeSelectorTerm,
    PodAffinity,
    PodAffinityTerm,
    PreferredNodes,
    PreferredPods,
    Taint,
    Toleration,
    TopologySpreadConstraint,
)
from testbed.objects.binding import Binding, DeleteOptions, Eviction, Preconditions, Target
from testbed.objects.condition import Condition
from testbed.objects.config import ConfigMap
from testbed.objects.disruption_budget import (
    PodDisruptionBudget,
    PodDisruptionBudgetSpec,
    PodDisruptionBudgetStatus,
)
from testbed.objects.event import Event, EventSeries, EventSource
from testbed.objects.kinds import KINDS, kind_by_plural, kind_of
from testbed.objects.labels import LabelSelector, Requirement
from testbed.objects.lease import Lease, LeaseSpec
from testbed.objects.meta import UNSET, Map, Meta, Object, Owner, Revision
from testbed.objects.namespace import Namespace, NamespaceSpec, NamespaceStatus
from testbed.objects.node import Node, NodeSpec, NodeStatus, room_of
from testbed.objects.note import Note
from testbed.objects.pod import (
    Container,
    ContainerState,
    ContainerStatus,
    Pod,
    PodSpec,
    PodStatus,
    Port,
    Resources,
    Running,
    SchedulingGate,
    Terminated,
    Waiting,
    qos_of,
    requests_of,
)
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
    DaemonSetStatus,
    Job,
    JobSpec,
    JobStatus,
    PodTemplate,
    ReplicaSet,
    ReplicaSetSpec,
    ReplicaSetStatus,
    RollingUpdate,
    UncountedPods,
    UpdateStrategy,
)

__all__ = [
    "KINDS",
    "UNSET",
    "Affinity",
    "Binding",
    "Condition",
    "ConfigMap",
    "Container",
    "ContainerState",
    "ContainerStatus",
    "DaemonSet",
    "DaemonSetSpec",
    "DaemonSetStatus",
    "DeleteOptions",
    "Event",
    "EventSeries",
    "EventSource",
    "Eviction",
    "Job",
    "JobSpec",
    "JobStatus",
    "LabelSelector",
    "Lease",
    "LeaseSpec",
    "Map",
    "Meta",
    "Namespace",
    "NamespaceSpec",
    "NamespaceStatus",
    "Node",
    "NodeAffinity",
    "NodeSelector",
    "NodeSelectorTerm",
    "NodeSpec",
    "NodeStatus",
    "Note",
    "Object",
    "Owner",
    "Pod",
    "PodAffinity",
    "PodAffinityTerm",
    "PodDisruptionBudget",
    "PodDisruptionBudgetSpec",
    "PodDisruptionBudgetStatus",
    "PodSpec",
    "PodStatus",
    "PodTemplate",
    "Port",
    "Preconditions",
    "PreferredNodes",
    "PreferredPods",
    "PriorityClass",
    "Quantity",
    "QuotaSpec",
    "QuotaStatus",
    "Reference",
    "ReplicaSet",
    "ReplicaSetSpec",
    "ReplicaSetStatus",
    "Requirement",
    "ResourceQuota",
    "Resources",
    "Revision",
    "RollingUpdate",
    "Running",
    "SchedulingGate",
    "ScopeSelector",
    "ScopedRequirement",
    "Taint",
    "Target",
    "Terminated",
    "Toleration",
    "TopologySpreadConstraint",
    "UncountedPods",
    "UpdateStrategy",
    "Waiting",
    "kind_by_plural",
    "kind_of",
    "qos_of",
    "reference_to",
    "requests_of",
    "room_of",
]
