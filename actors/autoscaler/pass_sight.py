"""PassSight: what one pass of the autoscaler saw before it began to decide.

The autoscaler shows that of its last pass to claims, under the name `sight`, so that they can judge
it by the same facts. It decides nothing by it.
"""

from __future__ import annotations

import attrs

from actors.shared.node_groups import GroupView
from testbed.objects import Node, Pod


@attrs.frozen(eq=False)
class PassSight:
    """Its lists of one pass, in the order in which it takes them."""

    at_ms: int
    """When the pass began."""
    nodes: tuple[Node, ...]
    """All registered nodes."""
    bound: tuple[Pod, ...]
    """The pods that are on nodes and have not ended."""
    unschedulable: tuple[Pod, ...]
    """The pods for which a scheduler has found no node."""
    groups: tuple[GroupView, ...]
    """The groups as the cloud told them in this pass."""
