"""What must hold of an autoscaler, as claims over what is stored and what its passes have noted.

May use: settings, pass_record, pass_sight, switches, state, autoscaler.
In order: passes, plain_cluster; then siblings, __init__.
"""

from __future__ import annotations

from actors.autoscaler.invariants.bounds import GroupsStayInBounds
from actors.autoscaler.invariants.departures import DepartingNodesAreEmpty, NodesDepartInTime
from actors.autoscaler.invariants.oscillation import AwaitedNodesStay, NoGroupOscillates
from actors.autoscaler.invariants.triggers import TriggersAreInNeed
from actors.autoscaler.invariants.waiting_pods import NoPodIsPassedOver
from actors.autoscaler.settings import AutoscalerSettings
from testbed import Invariant

__all__ = [
    "AwaitedNodesStay",
    "DepartingNodesAreEmpty",
    "GroupsStayInBounds",
    "NoGroupOscillates",
    "NoPodIsPassedOver",
    "NodesDepartInTime",
    "TriggersAreInNeed",
    "autoscaler_claims",
    "departure_claims",
    "growth_claims",
]


def autoscaler_claims(
    settings: AutoscalerSettings | None = None, actor: str = "autoscaler"
) -> tuple[Invariant, ...]:
    """All claims about an autoscaler with these settings, for a World in which its watches are late
    by less than it waits after it has tainted a node."""
    return (*growth_claims(), *departure_claims(settings, actor))


def growth_claims() -> tuple[Invariant, ...]:
    """The claims about how clusters grow, and about groups; they hold whatever strikes."""
    return (
        TriggersAreInNeed(), NoPodIsPassedOver(), GroupsStayInBounds(), AwaitedNodesStay(),
        NoGroupOscillates(),
    )  # fmt: skip


def departure_claims(
    settings: AutoscalerSettings | None = None, actor: str = "autoscaler"
) -> tuple[Invariant, ...]:
    """The claims about the nodes that an autoscaler with these settings deletes. They are for
    Worlds in which its watches are late by less than it waits after it has tainted a node."""
    return (DepartingNodesAreEmpty(actor), NodesDepartInTime(actor, settings))
