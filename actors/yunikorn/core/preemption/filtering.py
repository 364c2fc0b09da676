"""Filtering: which allocations of a node may be victims at all (YK-14 to YK-16).

No PodDisruptionBudget is asked (YK-27).
"""

from __future__ import annotations

from actors.yunikorn.amounts import are_any_shared
from actors.yunikorn.core.allocation import Allocation
from actors.yunikorn.core.node import CoreNode
from actors.yunikorn.switches import EVERY_CYCLE, NONE, STRICT_LOWER, YuniKornSwitches


def candidates(node: CoreNode, ask: Allocation, switches: YuniKornSwitches) -> list[Allocation]:
    """The allocations of YuniKorn on that node that an ask may preempt, in order of their keys."""
    here = [each for _, each in sorted(node.allocations.items())]
    return [each for each in here if may_go(each, ask, switches)]


def may_go(each: Allocation, ask: Allocation, switches: YuniKornSwitches) -> bool:
    """Whether an allocation may be a victim of an ask. DaemonSet pods never are (YK-15)."""
    if each.request.required_node:
        return False
    if switches.priority_filter == NONE:
        return True
    highest = ask.request.priority - (switches.priority_filter == STRICT_LOWER)
    if each.request.priority > highest:
        return False
    # Version 1.1 marks no victims, so it finds the same ones in every cycle until they are gone.
    if each.is_preempted and switches.repeat != EVERY_CYCLE:
        return False
    return are_any_shared(ask.amounts, each.amounts)
