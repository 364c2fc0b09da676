"""Necessity: which deviations of a race its breach takes: each is left out, and it is played."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Generic, TypeVar

import attrs

D = TypeVar("D")


@attrs.frozen
class Flipped(Generic[D]):
    """One deviation, and what came of the race without it."""

    deviation: D
    is_necessary: bool
    """Whether the same claim was no longer breached."""


def necessary(
    deviations: Sequence[D], breaches: Callable[[Sequence[D]], bool]
) -> tuple[Flipped[D], ...]:
    """For each of these deviations whether the breach takes it: the others are played without it.

    `breaches` plays the deviations it is given, and says whether the same claim is breached. It is
    called once for each of them, in their order. Two that can stand in for each other are both said
    not to be needed, though the race without either may hold.
    """
    flipped = []
    for place, deviation in enumerate(deviations):
        others = [*deviations[:place], *deviations[place + 1 :]]
        flipped.append(Flipped(deviation, not breaches(others)))
    return tuple(flipped)


def necessity_lines(flipped: Sequence[Flipped[D]]) -> list[str]:
    """What was found, a line for each deviation."""
    return [
        f"{'needed    ' if each.is_necessary else 'not needed'}  {each.deviation}"
        for each in flipped
    ]
