"""Necessity: which deviations of a race the breach needs, by leaving out each in turn."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Generic, TypeVar

import attrs

from testbed.races.playing import play
from testbed.races.race import Deviation, Race
from testbed.races.reason import same_as
from testbed.turns.verdict import Violation
from testbed.words import counted
from testbed.world.scenario import Scenario

D = TypeVar("D")
DEVIATIONS_MAX = 60
"""A race with more deviations than this was not shrunk yet; they are not tried one by one."""


@attrs.frozen
class Flipped(Generic[D]):
    """One deviation, and what the race shows without it."""

    deviation: D
    is_necessary: bool
    """Whether the same breach no longer showed without it."""


def necessary(
    deviations: Sequence[D], breaches: Callable[[Sequence[D]], bool]
) -> tuple[Flipped[D], ...]:
    """Say of each deviation whether the breach needs it, by playing the others without it.

    `breaches` plays the deviations it is given, and says whether they show the same breach. It is
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


def flipped(
    race: Race, recipe: Scenario, violation: Violation | None
) -> Sequence[Flipped[Deviation]]:
    """For each line of a race: whether the same breach still shows without it."""
    if violation is None or len(race) > DEVIATIONS_MAX:
        return ()
    is_same = same_as(violation, recipe.named(race.switches))

    def breaches(deviations: Sequence[Deviation]) -> bool:
        verdict = play(race.having(deviations), recipe, keep=False).verdict
        return any(map(is_same, verdict.violations))

    return necessary(race.lines, breaches)


def needed_lines(race: Race, tried: Sequence[Flipped[Deviation]], claim: str) -> list[str]:
    """What was found of each line of a race, and what is left out of its scenario, in words."""
    left_out = [f"Left out of the scenario: {race.left_out}."] if race.without else []
    if tried:
        head = "What the calm run would not do (needed: without that line, this does not break):"
        return [head, *(f"  {line}" for line in necessity_lines(tried)), *left_out]
    if claim and len(race):
        most = (
            f"It takes at most {counted(len(race), 'deviation')}; they were not tried one by one."
        )
        return [most, *left_out]
    return left_out
