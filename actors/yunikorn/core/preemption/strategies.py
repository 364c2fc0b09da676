"""Strategies: how many of the sorted victims go, and which (YK-21 to YK-26)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from actors.yunikorn.amounts import MILLION, NOTHING, Amounts, covers, missing, plus, share
from actors.yunikorn.core.allocation import Allocation
from actors.yunikorn.core.node import CoreNode
from actors.yunikorn.switches import MULTIPLE, SHIPPED, SINGLE, YuniKornSwitches

Groups = Sequence[Sequence[Allocation]]
"""The candidates, class by class, each in order."""
Strategy = Callable[[Groups, Allocation, CoreNode, YuniKornSwitches], list[Allocation]]


def shipped(
    groups: Groups, ask: Allocation, node: CoreNode, switches: YuniKornSwitches
) -> list[Allocation]:
    """Add victims until they alone cover the ask, as if nothing were free; accept them if they and
    what is free do. So it may take more than it needs (YK-22)."""
    taken: list[Allocation] = []
    total: Amounts = NOTHING
    for each in (each for group in groups for each in group):
        if covers(total, ask.amounts):
            break
        taken.append(each)
        total = plus(total, each.amounts)
    is_enough = covers(plus(total, node.available), ask.amounts)
    return taken if is_enough else []


def single(
    groups: Groups, ask: Allocation, node: CoreNode, switches: YuniKornSwitches
) -> list[Allocation]:
    """One victim that gives what is missing, and is not much larger than the ask. Of several it
    is the one nearest to the ask in size, then the first in order (YK-24)."""
    short = missing(ask.amounts, node.available)
    found: list[tuple[int, Allocation]] = []
    for each in (each for group in groups for each in group):
        deviation = deviation_of(each.amounts, ask.amounts)
        is_near = deviation * 100 <= switches.deviation_pct * MILLION
        if is_near and covers(each.amounts, short):
            found.append((deviation, each))
    return [min(found, key=lambda one: one[0])[1]] if found else []


def multiple(
    groups: Groups, ask: Allocation, node: CoreNode, switches: YuniKornSwitches
) -> list[Allocation]:
    """The largest ones of each class, until they and what is free cover the ask; none if that
    takes more than the most that is allowed (YK-25)."""
    taken: list[Allocation] = []
    total: Amounts = node.available
    for group in groups:
        for each in sorted(group, key=lambda each: -share(each.amounts, ask.amounts)):
            if covers(total, ask.amounts):
                return taken
            if len(taken) == switches.max_victims:
                return []
            taken.append(each)
            total = plus(total, each.amounts)
    return taken if covers(total, ask.amounts) else []


STRATEGIES: Mapping[str, Strategy] = {SHIPPED: shipped, SINGLE: single, MULTIPLE: multiple}
"""By name."""


def selected(
    groups: Groups, ask: Allocation, node: CoreNode, switches: YuniKornSwitches
) -> list[Allocation]:
    """The victims of the first strategy that selects any; the others are its fallback (YK-26)."""
    for name in switches.strategy.split(","):
        victims = STRATEGIES[name](groups, ask, node, switches)
        if victims:
            return victims
    return []


def deviation_of(held: Amounts, asked: Amounts) -> int:
    """How much more of something is held than is asked for, in millionths of what is asked. Less
    is negative, so of two that both suffice the smaller one is nearer."""
    return max(
        ((held.get(name, 0) - amount) * MILLION // amount
         for name, amount in asked.items() if amount),
        default=0,
    )  # fmt: skip
