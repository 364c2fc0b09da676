"""What controllers owe, as claims over what is stored; they share no code with the controllers.

May use: nothing beside it.
In order: siblings, __init__.
"""

from __future__ import annotations

from actors.controllers.invariants.budget_statuses import BudgetStatusesAreRight
from actors.controllers.invariants.desired_counts import DesiredCountsAreReached
from actors.controllers.invariants.ends_counted import EndsAreCountedOnce
from actors.controllers.invariants.no_excess import PodsAreCreatedOnce, RolloutsKeepTheirBounds
from actors.controllers.invariants.spared_pods import (
    ImportantPodsStay,
    LiveNodesKeepTheirPods,
    TolerationsAreKept,
)
from testbed import Invariant

__all__ = [
    "BudgetStatusesAreRight",
    "DesiredCountsAreReached",
    "EndsAreCountedOnce",
    "ImportantPodsStay",
    "LiveNodesKeepTheirPods",
    "PodsAreCreatedOnce",
    "RolloutsKeepTheirBounds",
    "TolerationsAreKept",
    "deletion_claims",
    "workload_claims",
]


def workload_claims() -> tuple[Invariant, ...]:
    """The claims about workloads that hold whatever strikes, once it is over: write
    `world.claim(*workload_claims())`. A crash without a restart is never over: who stays dead does
    not do its work. The others are for Worlds in which no controller crashes and no reply is lost.
    """
    return (DesiredCountsAreReached(), EndsAreCountedOnce())


def deletion_claims() -> tuple[Invariant, ...]:
    """The claims about those who delete pods for the good of the cluster, by the names that these
    actors usually have, and about what says how many may go."""
    return (
        BudgetStatusesAreRight(), TolerationsAreKept(), LiveNodesKeepTheirPods(),
        ImportantPodsStay(),
    )  # fmt: skip
