"""Nearest: the Run that is most like a violated one, and in which the claim holds.

1. Without one line of the race: of those that hold, the one with the longest equal beginning.
2. Else with the guard on.
3. Else the calm run.

A Run that was not played from a race is written down as one first. If that has many lines, the Run
is played up to one of its deviations instead, and calmly from there: up to the last one after which
the claim still holds.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import attrs

from testbed.chooser import Chooser, Cut
from testbed.races.noting import Noting, Taking
from testbed.races.pattern import Pattern
from testbed.races.race import Deviation, Hold, Race
from testbed.races.race_chooser import Raced
from testbed.story.rerun import Rerun, calm
from testbed.story.reruns.setting import differing
from testbed.story.twins.side import PlayedSide
from testbed.turns.happening import key_of
from testbed.turns.option import FAULT, HOLD, Choice
from testbed.turns.pending import Options
from testbed.turns.trace import Trace
from testbed.turns.verdict import Verdict

LINES_MAX = 12
"""A race with more lines is not shrunk: they are not left out one by one."""
FORKS_MAX = 24
"""At most this many deviations are tried as the last one."""
TIMES_LONGER, TURNS_MORE = 3, 2_000
"""A twin may be so much longer than the violated Run."""
OFF, GUARD = "off", "guard"


@attrs.frozen(eq=False)
class Twin:
    """The Run that is compared with the violated one."""

    side: PlayedSide
    line: Deviation | None = None
    """The line of the race without which it was played; None if it is another Run."""
    is_guarded: bool = False
    """Whether it was played with the guard on."""
    alike: int = 0
    """Parted many turns of it are those of the violated Run, from the first."""
    number: int = -1
    """Which line of the race that is, from 0."""
    ruled: frozenset[str] = frozenset()
    """The actors that the guard sets otherwise."""

    @property
    def has_other_objects(self) -> bool:
        """Whether the guard sets fields of objects otherwise: then all may come otherwise."""
        return any("/" in name for name in self.ruled)

    @property
    def late(self) -> Pattern | None:
        """What was late by that line; None if it is no hold."""
        return self.line.what if isinstance(self.line, Hold) else None


def twins(bad: PlayedSide, claim: str) -> list[Twin]:
    """The Runs in which the claim holds, the nearest first; empty if none was found."""
    world = bad.trace.played_in
    make = getattr(world, "again", None)
    if make is None:
        return []
    race = _race(bad, make)
    found = []
    if race is not None and 0 < len(race) <= LINES_MAX:
        for number, (line, fewer) in enumerate(zip(race.lines, race.without_each(), strict=True)):
            side = _held(bad, Raced(fewer), make, claim)
            if side is not None:
                found.append(Twin(side, line, alike=_alike(bad, side), number=number))
    found.sort(key=lambda twin: -twin.alike)
    if not found and (race is None or len(race) > 1):
        side = _forked(bad, make, claim)
        found += [] if side is None else [Twin(side, alike=_alike(bad, side))]
    if not found and world.switches.get(GUARD) == OFF:
        side = _held(bad, Raced(race or Race("")), lambda: make(guard="on"), claim)
        if side is not None:
            ruled = frozenset(
                name for each in differing(world, side.trace.played_in) for name in each.who
            )
            found.append(Twin(side, is_guarded=True, alike=_alike(bad, side), ruled=ruled))
    if not found and race is not None and len(race) > 1:
        side = _held(bad, Raced(race.having(())), make, claim)
        found += [] if side is None else [Twin(side, alike=_alike(bad, side))]
    return found


def _race(bad: PlayedSide, make: Callable[..., Any]) -> Race | None:
    """The race that was played, or as which that Run can be written; None if it has many lines."""
    chooser = bad.trace.played_in.chooser
    if isinstance(chooser, Raced):
        return chooser.race
    faults = sum(step.kind in (FAULT, HOLD) for step in bad.steps)
    if faults > LINES_MAX:
        return None
    try:
        taking = Taking(bad.trace.choices)
        make().run(taking, driver="direct")
        noting = Noting(taking)
        make().run(noting, driver="direct")
        race = noting.race()
    except Exception:  # noqa: BLE001 - then there is no race of it
        return None
    return race if len(race) <= LINES_MAX else None


def _played(
    bad: PlayedSide, chooser: Chooser, make: Callable[[], Any]
) -> tuple[Verdict, PlayedSide] | None:
    trace = Trace({}, keep=True)
    try:
        world = make()
        # What goes on for so much longer is no twin.
        most = TIMES_LONGER * len(bad.steps) + TURNS_MORE
        world.limit(turns_max=min(world.budget.turns_max, most))
        return world.run(chooser, driver="direct", trace=trace), PlayedSide.of(trace)
    except Exception:  # noqa: BLE001 - a scenario may stumble over what never came up before
        return None


def _held(
    bad: PlayedSide, chooser: Chooser, make: Callable[[], Any], claim: str
) -> PlayedSide | None:
    """That Run, if the claim holds in it."""
    played = _played(bad, chooser, make)
    if played is None:
        return None
    verdict, side = played
    is_broken = any(violation.invariant == claim for violation in verdict.violations)
    came_to_end = verdict.among_others == "held" or bool(verdict.violations)
    return side if came_to_end and not is_broken else None


def _forked(bad: PlayedSide, make: Callable[[], Any], claim: str) -> PlayedSide | None:
    """The Run up to the last deviation before which it could still hold, and then calmly."""
    deviations = [n for n, choice in enumerate(bad.trace.choices, 1) if choice != 0]
    for fork in deviations[: -FORKS_MAX - 1 : -1]:
        side = _held(bad, _Calmly(bad.trace, fork, fork), make, claim)
        if side is not None:
            return side
    return None


class _Calmly(Rerun):
    """Up to the fork as in the Run, and calmly from there."""

    name = "the same up to a deviation"

    def otherwise(self, options: Options) -> Choice | Cut:
        return calm(options)


def _alike(bad: PlayedSide, other: PlayedSide) -> int:
    alike = 0
    for one, two in zip(_turns(bad), _turns(other), strict=False):
        if one != two:
            break
        alike += 1
    return alike


def _turns(side: PlayedSide) -> Iterator[object]:
    for step in side.steps:
        if step.kind not in (HOLD, "release", "pass"):
            yield key_of(step.option)
