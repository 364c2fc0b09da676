"""Window: how long a hold of a Race must last for the breach, in virtual milliseconds.

1. Each hold in turn gets a duration instead of its `until`: first the length that it has in the
   race itself, then 0, 1, 2, 4, … ms. All other holds stay as they are.
2. If no length leads to the breach, the hold has no window: mostly only the order of what happens
   within one instant matters then.
3. Otherwise the ends of the window are sought on both sides of the length found, between it and
   the nearest of 0, 1, 2, 4, … ms that does not lead to the breach. What comes of a hold can only
   change where it begins or ceases to outlast something. So the moments at which something happens
   are tried first, the PROBES_MAX nearest on each side, up to one that does not lead to the breach;
   the end lies before it, and is found by bisection.

So the claim may be breached again beyond the window, which is then one of several. A gap in it is
missed only if it lies beyond those moments, or within two that are next to each other.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache

import attrs

from testbed.invariant import Violation
from testbed.races.playing import play
from testbed.races.race import Hold, Race
from testbed.races.reason import same_as
from testbed.races.shrink import option_held
from testbed.turns.option import HOLD, RELEASE
from testbed.turns.trace import Step
from testbed.world.scenario import Scenario

LONGEST_MS = 3_600_000
"""A hold of an hour counts as one without an end."""
PROBES_MAX = 16
"""How many moments are tried on each side."""


@attrs.frozen
class Window:
    """The lengths of one hold that lead to the breach."""

    hold: Hold
    least_ms: int
    most_ms: int | None
    """None: any longer hold does, too."""

    @property
    def width_ms(self) -> int | None:
        """How many lengths it has; None if it has no end."""
        return None if self.most_ms is None else self.most_ms - self.least_ms + 1

    def __str__(self) -> str:
        if self.most_ms is None:
            return f"{self.hold.what} is late by {self.least_ms} ms or more"
        return f"{self.hold.what} is late by {self.least_ms} to {self.most_ms} ms"


def windows(
    race: Race,
    recipe: Scenario,
    violation: Violation,
    on_run: Callable[[], object] = lambda: None,
) -> list[Window]:
    """Return the window of each hold that has one.

    `on_run` is called before each Run that tries a length, and may raise to stop.
    """
    is_same = same_as(violation, recipe.named(race.switches))
    found = [_window(race, recipe, is_same, index, on_run) for index in range(len(race.holds))]
    return [window for window in found if window is not None]


def _window(
    race: Race,
    recipe: Scenario,
    is_same: Callable[[Violation], bool],
    index: int,
    on_run: Callable[[], object],
) -> Window | None:
    hold = race.holds[index]

    def timed(ms: int) -> Race:
        holds = (*race.holds[:index], attrs.evolve(hold, until=ms), *race.holds[index + 1 :])
        return attrs.evolve(race, holds=holds)

    @cache
    def breaches(ms: int) -> bool:
        on_run()
        verdict = play(timed(ms), recipe, keep=False).verdict
        return any(map(is_same, verdict.violations))

    late_ms = _lateness_ms(race, recipe, hold)
    # A hold that is due in the ms of the Option it waited for ends before that Option is performed,
    # and one ms later it ends after it. So both are tried.
    lengths = [late_ms, late_ms + 1, *_doubling()]
    tried = next((ms for ms in lengths if breaches(ms)), None)
    if tried is None:
        return None
    moments = {*_moments(timed(tried), recipe, hold), *_moments(timed(LONGEST_MS), recipe, hold)}
    shorter = sorted((ms for ms in moments if ms < tried), reverse=True)
    longer = sorted(ms for ms in moments if ms > tried)
    low, below = _edge(breaches, tried, shorter[:PROBES_MAX])
    high, above = _edge(breaches, tried, longer[:PROBES_MAX])
    if below is None:
        below = next((ms for ms in reversed(_doubling()) if ms < low and not breaches(ms)), -1)
    least = _first(breaches, below + 1, low)
    if above is None and breaches(LONGEST_MS):
        return Window(hold, least, None)
    if above is None:
        above = next(ms for ms in _doubling() if ms > high and not breaches(ms))
    return Window(hold, least, _first(lambda ms: not breaches(ms), high, above) - 1)


def _edge(
    breaches: Callable[[int], bool], tried: int, lengths: Sequence[int]
) -> tuple[int, int | None]:
    """Return the last of these lengths that leads to the breach, beginning with the one that was
    tried, and the first that does not; None if all do."""
    last = tried
    for ms in lengths:
        if not breaches(ms):
            return last, ms
        last = ms
    return last, None


def _moments(race: Race, recipe: Scenario, hold: Hold) -> set[int]:
    """The lengths with which the hold would end when something happens in that Run, and just after
    it."""
    steps = play(race, recipe).trace.steps
    begun = next((s.now_ms for s in steps if s.kind == HOLD and _is_of(hold, s)), None)
    late = {step.now_ms - begun for step in steps if begun is not None}
    return {ms + more for ms in late for more in (0, 1) if 0 <= ms + more <= LONGEST_MS}


def _is_of(hold: Hold, step: Step) -> bool:
    return hold.what.fits(option_held(step.option))


def _lateness_ms(race: Race, recipe: Scenario, hold: Hold) -> int:
    """Return how long the hold lasts in the race itself.

    This length is likely to lead to the breach, and may be the only one tried that does: a narrow
    window can fall between two powers of 2.
    """
    begun_ms = 0
    for step in play(race, recipe).trace.steps:
        if step.kind == HOLD and _is_of(hold, step):
            begun_ms = step.now_ms
        elif step.kind == RELEASE and _is_of(hold, step):
            return step.now_ms - begun_ms
    return 0


def narrowest(windows: list[Window]) -> Window | None:
    """Return the window that is hardest to hit; None if there is none."""
    closed = [window for window in windows if window.width_ms is not None]
    if closed:
        return min(closed, key=lambda window: window.width_ms or 0)
    return max(windows, key=lambda window: window.least_ms, default=None)


def _doubling() -> list[int]:
    lengths = [0, 1]
    while lengths[-1] < LONGEST_MS:
        lengths.append(min(2 * lengths[-1], LONGEST_MS))
    return lengths


def _first(is_so: Callable[[int], bool], low: int, high: int) -> int:
    """Return the least number from `low` to `high` for which it is so.

    It must be so for `high`, and from that least number on.
    """
    while low < high:
        middle = (low + high) // 2
        if is_so(middle):
            high = middle
        else:
            low = middle + 1
    return high
