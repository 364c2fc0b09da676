"""Outlook: what one pass of the autoscaler gives its scale-down to decide by."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import attrs

from actors.autoscaler.listing_order import Order, as_sorted
from actors.autoscaler.scale_down.drainability import Owners
from actors.autoscaler.simulation.simulation import Simulation
from actors.shared.node_groups import GroupView
from testbed.objects import Node, PodDisruptionBudget


@attrs.frozen
class Outlook:
    """The cluster as a pass sees it once its scale-up has asked for no node."""

    now_ms: int
    simulation: Simulation
    """Nodes, also those still to come, with the pods that are on them or have been packed there."""
    nodes: Sequence[Node]
    """All registered nodes."""
    groups: Sequence[GroupView]
    """The node groups, as the cloud told them in this pass."""
    owners: Owners
    """Finds the owner of a pod."""
    budgets: Sequence[PodDisruptionBudget] = ()
    order: Order = as_sorted
    """Gives the order where Go would range over a map."""

    group_of: Mapping[str, GroupView] = attrs.field(init=False, eq=False, repr=False)
    """The group of each node that has one."""

    @group_of.default
    def _(self) -> Mapping[str, GroupView]:
        return {name: group for group in self.groups for name in group.nodes}
