"""Amounts: arithmetic of resources by name, as YuniKorn's core compares them (GEN-11, YK-23)."""

from __future__ import annotations

from collections.abc import Mapping

from testbed.objects import Map

Amounts = Mapping[str, int]
NOTHING: Map[int] = Map()
MILLION = 1_000_000


def plus(some: Amounts, more: Amounts) -> Map[int]:
    """The sum of two."""
    return Map({name: some.get(name, 0) + more.get(name, 0) for name in {**some, **more}})


def minus(some: Amounts, less: Amounts) -> Map[int]:
    """The difference of two; a name that only the second has becomes negative."""
    return Map({name: some.get(name, 0) - less.get(name, 0) for name in {**some, **less}})


def fits(room: Amounts, asked: Amounts) -> bool:
    """Whether there is room for what is asked; what the room does not name is not there."""
    return all(max(room.get(name, 0), 0) >= amount for name, amount in asked.items())


def is_within(limit: Amounts | None, asked: Amounts) -> bool:
    """Whether what is asked stays within a limit, which may leave a name out: that is unlimited."""
    return limit is None or all(limit.get(name, asked[name]) >= asked[name] for name in asked)


def covers(some: Amounts, other: Amounts) -> bool:
    """Whether the first is at least the second, for every name on either side (YK-23)."""
    return all(some.get(name, 0) >= other.get(name, 0) for name in {**some, **other})


def exceeds(some: Amounts, other: Amounts) -> bool:
    """Whether the first is nowhere less than the second, and somewhere more."""
    return covers(some, other) and not covers(other, some)


def missing(asked: Amounts, room: Amounts) -> Map[int]:
    """How much more is asked than there is room for; negative room is missing, too."""
    short = {name: amount - room.get(name, 0) for name, amount in asked.items()}
    return Map({name: amount for name, amount in short.items() if amount > 0})


def are_any_shared(some: Amounts, other: Amounts) -> bool:
    """Whether any name stands in both."""
    return any(name in other for name in some)


def share(part: Amounts, whole: Amounts) -> int:
    """The largest share of the whole among the names of the part, in millionths."""
    shares = [amount * MILLION // whole[name] for name, amount in part.items() if whole.get(name)]
    return max(shares, default=0)


def is_something(amounts: Amounts) -> bool:
    """Whether any of it is more than zero."""
    return any(amount > 0 for amount in amounts.values())


def without_zeros(amounts: Amounts) -> Map[int]:
    """Only the names with an amount other than zero."""
    return Map({name: amount for name, amount in amounts.items() if amount})
