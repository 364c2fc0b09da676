"""What controllers owe, as claims over what is stored; they share no code with the controllers.

May use: nothing beside it.
In order: siblings, __init__.
"""

from __future__ import annotations

from actors.controllers.invariants.desired_counts import DesiredCountsAreReached
from actors.controllers.invariants.ends_counted import EndsAreCountedOnce
from actors.controllers.invariants.no_excess import PodsAreCreatedOnce, RolloutsKeepTheirBounds
from testbed import Invariant

__all__ = [
    "DesiredCountsAreReached",
    "EndsAreCountedOnce",
    "PodsAreCreatedOnce",
    "RolloutsKeepTheirBounds",
    "workload_claims",
]


def workload_claims() -> tuple[Invariant, ...]:
    """The claims about workloads that hold whatever strikes, once it is over: write
    `world.claim(*workload_claims())`. The others are for Worlds in which no controller crashes and
    no reply is lost."""
    return (DesiredCountsAreReached(), EndsAreCountedOnce())
