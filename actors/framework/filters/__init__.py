"""The filters, and the order in which they run by default (SCH-56).

A new filter is one new file here: a subclass of `Filter` with a `name` and a `check`, made without
arguments. The switch `scheduler.filters=+Name` finds it by its name, and runs it behind the default
ones. Only a filter that shall run by default is added to FILTERS.

May use: podinfo, nodeinfo, cluster_events, refusal, tally, snapshot, node_matching, filter.
Siblings: no file here imports another.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

from actors.framework.filter import Filter
from actors.framework.filters.inter_pod_affinity import InterPodAffinityFilter
from actors.framework.filters.node_affinity import NodeAffinityFilter
from actors.framework.filters.node_name import NodeNameFilter
from actors.framework.filters.node_ports import NodePortsFilter
from actors.framework.filters.node_unschedulable import NodeUnschedulableFilter
from actors.framework.filters.resources import NodeResourcesFitFilter
from actors.framework.filters.taint_toleration import TaintTolerationFilter
from actors.framework.filters.topology_spread import PodTopologySpreadFilter
from testbed.policy import catalogue

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


@cache
def filter_classes() -> Mapping[str, type[Filter]]:
    """The class of every Filter in this folder by its `name`, in the order of the files.

    The files are imported on the first call, once a switch names a filter that is no default.
    """
    return catalogue(__name__, __path__, Filter)
