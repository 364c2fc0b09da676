"""What must hold of an autoscaler, as claims over what is stored and what its passes have noted.

May use: settings, pass_record.
In order: siblings, __init__.
"""

from __future__ import annotations

from actors.autoscaler.invariants.departures import DepartingNodesAreEmpty, NodesDepartInTime
from actors.autoscaler.settings import AutoscalerSettings
from testbed import Invariant

__all__ = ["DepartingNodesAreEmpty", "NodesDepartInTime", "departure_claims"]


def departure_claims(
    settings: AutoscalerSettings | None = None, actor: str = "autoscaler"
) -> tuple[Invariant, ...]:
    """The claims about the nodes that an autoscaler with these settings deletes. They are for
    Worlds in which its watches are late by less than it waits after it has tainted a node."""
    return (DepartingNodesAreEmpty(actor), NodesDepartInTime(actor, settings))
