"""Sorting: in which order victims go: by class, priority, age and size (YK-17 to YK-20)."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from functools import cmp_to_key

from actors.yunikorn.amounts import exceeds
from actors.yunikorn.core.allocation import Allocation
from actors.yunikorn.switches import SEED, YuniKornSwitches

REGULAR, SECOND, LAST = 1, 2, 3


def in_order(
    victims: Sequence[Allocation], owners: Collection[str], switches: YuniKornSwitches
) -> list[Allocation]:
    """The victims that go first stand first. `owners` are the uids that own any pod."""
    sign = 1 if switches.dirs.startswith("old") else -1

    def rank(each: Allocation) -> tuple[int, int, int]:
        request = each.request
        return class_of(each, owners, switches), request.priority, sign * request.created_ms

    def compare(one: Allocation, other: Allocation) -> int:
        mine, theirs = rank(one), rank(other)
        if mine != theirs:
            return -1 if mine < theirs else 1
        return by_size(switches)(one, other)

    return sorted(victims, key=cmp_to_key(compare))


def class_of(each: Allocation, owners: Collection[str], switches: YuniKornSwitches) -> int:
    """The class of a victim (YK-17). The design document asks whether it owns other pods; what is
    shipped, whether it is the first pod of its application (YK-18)."""
    request = each.request
    opts_out = not request.allows_preemption or (switches.opt_out_label and request.is_labelled)
    if switches.class_order == SEED:
        if opts_out:
            return LAST
        return SECOND if request.key in owners else REGULAR
    if request.is_originator:
        return LAST
    return SECOND if opts_out else REGULAR


def by_size(switches: YuniKornSwitches) -> Callable[[Allocation, Allocation], int]:
    """Compare by size. If neither is larger, compare by key, since YuniKorn's own comparison is no
    order then (YK-20)."""
    sign = 1 if switches.dirs.endswith("large") else -1

    def compare(one: Allocation, other: Allocation) -> int:
        if exceeds(other.amounts, one.amounts):
            return sign
        if exceeds(one.amounts, other.amounts):
            return -sign
        return -1 if one.key < other.key else 1

    return compare
