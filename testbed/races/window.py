"""Window: how long what is late must be late for a Race to be lost, in virtual milliseconds.

Each hold in turn ends after a duration instead of at an event: first after as long as it lasts in
the race itself, then after 0, 1, 2, 4, … ms. From one that leads to the breach the shortest and the
longest around it are found by bisection. What none of them brings about has no window: mostly it is
a matter of order alone, within one instant.
"""

from __future__ import annotations

from collections.abc import Callable

import attrs

from testbed.invariant import Violation
from testbed.races.playing import play
from testbed.races.race import Hold, Race
from testbed.races.reason import reason_of
from testbed.races.shrink import unheld
from testbed.turns.option import HOLD, RELEASE
from testbed.world.scenario import Scenario

LONGEST_MS = 3_600_000
"""An hour is as good as for ever."""


@attrs.frozen
class Window:
    """The lengths of a hold that lead to the breach."""

    hold: Hold
    least_ms: int
    most_ms: int | None
    """None: however long."""

    @property
    def width_ms(self) -> int | None:
        """How wide it is; None if it does not close."""
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
    """The window of each hold that has one. `on_run` is called before each Run, and may raise."""
    reason = reason_of(violation)
    found = [_window(race, recipe, reason, index, on_run) for index in range(len(race.holds))]
    return [window for window in found if window is not None]


def _window(
    race: Race, recipe: Scenario, reason: str, index: int, on_run: Callable[[], object]
) -> Window | None:
    hold = race.holds[index]

    def fails(ms: int) -> bool:
        on_run()
        timed = attrs.evolve(hold, until=ms)
        holds = (*race.holds[:index], timed, *race.holds[index + 1 :])
        verdict = play(attrs.evolve(race, holds=holds), recipe, keep=False).verdict
        return any(reason_of(violation) == reason for violation in verdict.violations)

    late_ms = _lateness_ms(race, recipe, hold)
    # What is due in the same ms as the event it waited for comes before it, and one ms later after.
    lengths = [late_ms, late_ms + 1, *_doubling()]
    tried = next((ms for ms in lengths if fails(ms)), None)
    if tried is None:
        return None
    below = next((ms for ms in reversed(_doubling()) if ms < tried and not fails(ms)), -1)
    least = _first(fails, below + 1, tried)
    if fails(LONGEST_MS):
        return Window(hold, least, None)
    above = next(ms for ms in _doubling() if ms > tried and not fails(ms))
    return Window(hold, least, _first(lambda ms: not fails(ms), tried, above) - 1)


def _lateness_ms(race: Race, recipe: Scenario, hold: Hold) -> int:
    """How late it is when the race is played as it stands: one length that may do, and perhaps the
    only one of those that are tried."""
    begun_ms = 0
    for step in play(race, recipe).trace.steps:
        if step.kind == HOLD and hold.what.fits(unheld(step.option)):
            begun_ms = step.now_ms
        elif step.kind == RELEASE and hold.what.fits(unheld(step.option)):
            return step.now_ms - begun_ms
    return 0


def narrowest(windows: list[Window]) -> Window | None:
    """The one that is hardest to hit."""
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
    """The least between these for which it is so, as it is for the highest; it stays so above."""
    while low < high:
        middle = (low + high) // 2
        if is_so(middle):
            high = middle
        else:
            low = middle + 1
    return high
