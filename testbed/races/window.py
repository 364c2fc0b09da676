"""Window: how long a hold of a Race must last for the breach, in virtual milliseconds.

1. Each hold in turn gets a duration instead of its `until`: first the length that it has in the
   race itself, then 0, 1, 2, 4, … ms. All other holds stay as they are.
2. If no length leads to the breach, the hold has no window: mostly only the order of what happens
   within one instant matters then.
3. Otherwise the shortest and the longest length around the one found are sought by bisection,
   between it and the nearest of 0, 1, 2, 4, … ms that does not lead to the breach.

Bisection assumes that all lengths between the two ends lead to the breach. The Runs do not promise
that: it may be breached again after a gap. Then the window is one of several, and the ends that are
found are still next to a length at which the claim held.
"""

from __future__ import annotations

from collections.abc import Callable

import attrs

from testbed.invariant import Violation
from testbed.races.playing import play
from testbed.races.race import Hold, Race
from testbed.races.reason import reason_of
from testbed.races.shrink import option_held
from testbed.turns.option import HOLD, RELEASE
from testbed.world.scenario import Scenario

LONGEST_MS = 3_600_000
"""A hold of an hour counts as one without an end."""


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
    reason = reason_of(violation)
    found = [_window(race, recipe, reason, index, on_run) for index in range(len(race.holds))]
    return [window for window in found if window is not None]


def _window(
    race: Race, recipe: Scenario, reason: str, index: int, on_run: Callable[[], object]
) -> Window | None:
    hold = race.holds[index]

    def breaches(ms: int) -> bool:
        on_run()
        timed = attrs.evolve(hold, until=ms)
        holds = (*race.holds[:index], timed, *race.holds[index + 1 :])
        verdict = play(attrs.evolve(race, holds=holds), recipe, keep=False).verdict
        return any(reason_of(violation) == reason for violation in verdict.violations)

    late_ms = _lateness_ms(race, recipe, hold)
    # A hold that is due in the ms of the Option it waited for ends before that Option is performed,
    # and one ms later it ends after it. So both are tried.
    lengths = [late_ms, late_ms + 1, *_doubling()]
    tried = next((ms for ms in lengths if breaches(ms)), None)
    if tried is None:
        return None
    below = next((ms for ms in reversed(_doubling()) if ms < tried and not breaches(ms)), -1)
    least = _first(breaches, below + 1, tried)
    if breaches(LONGEST_MS):
        return Window(hold, least, None)
    above = next(ms for ms in _doubling() if ms > tried and not breaches(ms))
    return Window(hold, least, _first(lambda ms: not breaches(ms), tried, above) - 1)


def _lateness_ms(race: Race, recipe: Scenario, hold: Hold) -> int:
    """Return how long the hold lasts in the race itself.

    This length is likely to lead to the breach, and may be the only one tried that does: a narrow
    window can fall between two powers of 2.
    """
    begun_ms = 0
    for step in play(race, recipe).trace.steps:
        if step.kind == HOLD and hold.what.fits(option_held(step.option)):
            begun_ms = step.now_ms
        elif step.kind == RELEASE and hold.what.fits(option_held(step.option)):
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
