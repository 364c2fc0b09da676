"""Necessity: which deviations of a race the breach needs, by leaving out each in turn."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Generic, TypeVar

import attrs

D = TypeVar("D")


@attrs.frozen
class Flipped(Generic[D]):
    """One deviation, and what the race shows without it."""

    deviation: D
    is_necessary: bool
    """Whether the claim was no longer breached without it."""


def necessary(
    deviations: Sequence[D], breaches: Callable[[Sequence[D]], bool]
) -> tuple[Flipped[D], ...]:
    """Say of each deviation whether the breach needs it, by playing the others without it.

    `breaches` plays the deviations it is given, and says whether the same claim is breached. It is
    called once for each deviation, in order. If two deviations can replace each other, neither is
    called necessary, though the claim may hold without both.
    """
    flipped = []
    for place, deviation in enumerate(deviations):
        others = [*deviations[:place], *deviations[place + 1 :]]
        flipped.append(Flipped(deviation, not breaches(others)))
    return tuple(flipped)


def necessity_lines(flipped: Sequence[Flipped[D]]) -> list[str]:
    """Return what was found, one line for each deviation."""
    return [
        f"{'needed    ' if each.is_necessary else 'not needed'}  {each.deviation}"
        for each in flipped
    ]
