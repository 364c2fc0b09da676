"""What may say no to a node, in the order in which they are asked (SCH-56)."""

from __future__ import annotations

from actors.scheduler.filter import Filter
from actors.scheduler.filters.inter_pod_affinity import InterPodAffinity
from actors.scheduler.filters.node_affinity import NodeAffinity
from actors.scheduler.filters.node_name import NodeName
from actors.scheduler.filters.node_ports import NodePorts
from actors.scheduler.filters.node_unschedulable import NodeUnschedulable
from actors.scheduler.filters.resources import NodeResourcesFit
from actors.scheduler.filters.taint_toleration import TaintToleration
from actors.scheduler.filters.topology_spread import PodTopologySpread

FILTERS: tuple[Filter, ...] = (
    NodeUnschedulable(),
    NodeName(),
    TaintToleration(),
    NodeAffinity(),
    NodePorts(),
    NodeResourcesFit(),
    PodTopologySpread(),
    InterPodAffinity(),
)
