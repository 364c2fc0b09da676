"""RequiredNodePreemptor: releases allocations of a node for an ask that requires it (YK-28).

1. Candidates are filtered, sorted and selected.
2. Each victim is marked; what it holds stays booked until its pod is gone.
3. The ask is marked, and the shim is told. Nothing links the victims to the ask from then on.
If there are no victims, the ask stays as it is, and people are told (YK-13).
"""

from __future__ import annotations

from itertools import groupby

from actors.yunikorn.core.allocation import Allocation
from actors.yunikorn.core.node import CoreNode
from actors.yunikorn.core.partition import PartitionContext
from actors.yunikorn.core.preemption.filtering import candidates
from actors.yunikorn.core.preemption.sorting import class_of, in_order
from actors.yunikorn.core.preemption.strategies import selected
from actors.yunikorn.messages import PREEMPTED, CoreEvent, ReleasedAllocation
from actors.yunikorn.switches import YuniKornSwitches

FAILED = "RequiredNodePreemptionFailed"


class RequiredNodePreemptor:
    """Finds victims for one ask, and releases them."""

    def __init__(self, partition: PartitionContext, switches: YuniKornSwitches) -> None:
        self.partition = partition
        self.switches = switches

    def try_preemption(self, ask: Allocation, node: CoreNode) -> bool:
        """Whether victims were released for the ask."""
        victims = self.victims(ask, node)
        if not victims:
            message = f"no victims on {node.name} for {ask.request.pod}"
            self.partition.to_shim.append(CoreEvent(ask.key, FAILED, message))
            return False
        message = f"preempted to make room for {ask.request.pod} on {node.name}"
        for victim in victims:
            self.release(victim, ask, message)
        ask.has_triggered = True
        ask.releases += 1
        return True

    def release(self, victim: Allocation, ask: Allocation, message: str) -> None:
        """Mark a victim, and have the shim told of it."""
        self.partition.mark_preempted(victim)
        release = ReleasedAllocation(victim.key, PREEMPTED, message, ask.key)
        self.partition.to_shim.append(release)

    def victims(self, ask: Allocation, node: CoreNode) -> list[Allocation]:
        """Who has to go, in the order in which they are released."""
        owners, switches = self.partition.owners(), self.switches
        ordered = in_order(candidates(node, ask, switches), owners, switches)
        by_class = groupby(ordered, key=lambda each: class_of(each, owners, switches))
        return selected([list(group) for _, group in by_class], ask, node, switches)
