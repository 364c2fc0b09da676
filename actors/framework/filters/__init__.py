"""The filters, in the order in which they are asked (SCH-56).

May use: podinfo, nodeinfo, cluster_events, refusal, tally, snapshot, node_matching, filter.
Siblings: no file here imports another.
"""

from __future__ import annotations

from actors.framework.filter import Filter
from actors.framework.filters.inter_pod_affinity import InterPodAffinityFilter
from actors.framework.filters.node_affinity import NodeAffinityFilter
from actors.framework.filters.node_name import NodeNameFilter
from actors.framework.filters.node_ports import NodePortsFilter
from actors.framework.filters.node_unschedulable import NodeUnschedulableFilter
from actors.framework.filters.resources import NodeResourcesFitFilter
from actors.framework.filters.taint_toleration import TaintTolerationFilter
from actors.framework.filters.topology_spread import PodTopologySpreadFilter

FILTERS: tuple[Filter, ...] = (
    NodeUnschedulableFilter(),
    NodeNameFilter(),
    TaintTolerationFilter(),
    NodeAffinityFilter(),
    NodePortsFilter(),
    NodeResourcesFitFilter(),
    PodTopologySpreadFilter(),
    InterPodAffinityFilter(),
)
