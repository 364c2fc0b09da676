"""The filters, in the order in which they are asked (SCH-56).

May use: podinfo, nodeinfo, cluster_events, refusal, tally, snapshot, node_matching, filter.
Siblings: no file here imports another.
"""

from __future__ import annotations

from actors.framework.filter import Filter
from actors.framework.filters.inter_pod_affinity import InterPodAffinity
from actors.framework.filters.node_affinity import NodeAffinity
from actors.framework.filters.node_name import NodeName
from actors.framework.filters.node_ports import NodePorts
from actors.framework.filters.node_unschedulable import NodeUnschedulable
from actors.framework.filters.resources import NodeResourcesFit
from actors.framework.filters.taint_toleration import TaintToleration
from actors.framework.filters.topology_spread import PodTopologySpread

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
