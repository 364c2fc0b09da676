"""Window: how long a hold of a Race must last for the breach, in virtual milliseconds.

1. Each hold in turn gets a duration instead of its `until`; all other holds stay as they are. What
   comes of a hold can only change where it begins or ceases to outlast something. So only lengths
   are tried with which it ends when something happens, or one ms later: first the length that it
   has in the race itself; then the shortest of the others, and each time the next that is at least
   twice as long.
2. If no length leads to the breach, the hold has no window: mostly only the order of what happens
   within one instant matters then.
3. Otherwise the ends of the window are sought on both sides of the length found. The PROBES_MAX
   nearest moments on each side are tried one after the other, up to one that does not lead to the
   breach. Beyond these, and from moment to moment, the end is found by bisection.

So the claim may be breached again beyond the window, which is then one of several. A gap in it is
missed only if it lies beyond those moments, or within two that are next to each other. No more
than RUNS_MAX Runs are spent on all holds of a Race; those that are left then have no window.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import attrs

from testbed.errors import ScenarioError
from testbed.races.plainer import holds, option_held
from testbed.races.playing import Played, play
from testbed.races.race import Hold, Race
from testbed.races.reason import same_as
from testbed.turns.option import RELEASE
from testbed.turns.trace import Step
from testbed.turns.verdict import Violation
from testbed.world.scenario import Scenario

LONGEST_MS = 3_600_000
"""A hold of an hour counts as one without an end."""
PROBES_MAX = 4
"""How many moments are tried on each side."""
RUNS_MAX = 25
"""How many Runs are spent on one Race."""


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
    played: Played | None = None,
) -> list[Window]:
    """Return the window of each hold that has one.

    `on_run` is called before each Run, and may raise to stop. A Run of the Race whose Steps were
    kept may be given, so that it is not `played` again.
    """
    measuring = _Measuring(race, recipe, violation, on_run)
    if race.holds:
        measuring.begin(played)
    found: list[Window] = []
    try:
        for index in range(len(race.holds)):
            if (window := measuring.window(index)) is not None:
                found.append(window)
    except _Spent as spent:
        if not found:
            raise ScenarioError(
                f"its windows take more than {RUNS_MAX} runs.\nNext: replay it with fewer lines."
            ) from spent
    return found


class _Spent(Exception):
    """RUNS_MAX Runs were played."""


class _Measuring:
    """Measures the windows of one Race."""

    def __init__(
        self,
        race: Race,
        recipe: Scenario,
        violation: Violation,
        on_run: Callable[[], object],
    ) -> None:
        self._race = race
        self._recipe = recipe
        self._is_same = same_as(violation, recipe.named(race.switches))
        self._on_run = on_run
        self._left = RUNS_MAX
        self._own: Sequence[Step] = ()
        """The Steps of its own Run."""

    def begin(self, played: Played | None) -> None:
        """Called first: look at the Run of the Race itself, or play it."""
        self._own = (played or self._play(self._race)).trace.steps

    def window(self, index: int) -> Window | None:
        """The window of that hold; None if it has none."""
        hold = self._race.holds[index]
        longest = self._play(self._timed(index, LONGEST_MS))
        known = {LONGEST_MS: any(map(self._is_same, longest.verdict.violations))}

        def breaches(ms: int) -> bool:
            if ms not in known:
                verdict = self._play(self._timed(index, ms), keep=False).verdict
                known[ms] = any(map(self._is_same, verdict.violations))
            return known[ms]

        moments = [*_moments(longest.trace.steps, hold), LONGEST_MS]
        tried = next(filter(breaches, _lengths(_lateness_ms(self._own, hold), moments)), None)
        if tried is None:
            return None
        shorter = [ms for ms in reversed(moments) if ms < tried]
        longer = [ms for ms in moments if ms > tried]
        low, below = _edge(breaches, tried, shorter, end=-1)
        high, above = _edge(breaches, tried, longer, end=LONGEST_MS + 1)
        most = None if above > LONGEST_MS else _between(breaches, high, above)
        return Window(hold, _between(breaches, low, below), most)

    def _timed(self, index: int, ms: int) -> Race:
        """The Race in which that hold lasts so long."""
        holds = list(self._race.holds)
        holds[index] = attrs.evolve(holds[index], until=ms)
        return attrs.evolve(self._race, holds=tuple(holds))

    def _play(self, race: Race, *, keep: bool = True) -> Played:
        if not self._left:
            raise _Spent
        self._left -= 1
        self._on_run()
        return play(race, self._recipe, keep=keep)


def _lengths(late_ms: int, moments: Sequence[int]) -> Iterator[int]:
    """The lengths of which one may lead to the breach, the likeliest first.

    The one that it has in the race itself may be the only one that does. A hold that is due in the
    ms of the Option it waited for ends before that Option is performed, and one ms later it ends
    after it. So both are tried. Then come a short one, one that is twice as long, and so on.
    """
    yield from (late_ms, late_ms + 1)
    longer = 0
    for ms in moments:
        if ms >= longer:
            yield ms
            longer = max(2 * ms, 1)


def _edge(
    breaches: Callable[[int], bool], tried: int, lengths: Sequence[int], end: int
) -> tuple[int, int]:
    """Return the last of these lengths that leads to the breach, beginning with the one that was
    tried, and the first that does not; `end` if all do."""
    last = tried
    for ms in lengths[:PROBES_MAX]:
        if not breaches(ms):
            return last, ms
        last = ms
    rest = lengths[PROBES_MAX:]
    if not rest or breaches(rest[-1]):
        return (rest[-1] if rest else last), end
    low, high = 0, len(rest) - 1
    while low < high:
        middle = (low + high) // 2
        if breaches(rest[middle]):
            low = middle + 1
        else:
            high = middle
    return (rest[low - 1] if low else last), rest[low]


def _between(breaches: Callable[[int], bool], good: int, bad: int) -> int:
    """Return the last length that leads to the breach, from one that does to one that does not."""
    step = 1 if bad > good else -1
    # Mostly the end is one of the two: something happens just there.
    if bad == good + step or breaches(bad - step):
        return bad - step
    low, high = 0, abs(bad - good) - 1
    if not breaches(good + step):
        return good
    while high - low > 1:
        middle = (low + high) // 2
        if breaches(good + step * middle):
            low = middle
        else:
            high = middle
    return good + step * low


def _moments(steps: Sequence[Step], hold: Hold) -> list[int]:
    """The lengths with which the hold would end when something happens in that Run, and just after
    it, in order."""
    begun = next((n for n, step in enumerate(steps) if holds(step, hold.what)), len(steps))
    late = {step.now_ms - steps[begun].now_ms for step in steps[begun:]}
    return sorted({ms + more for ms in late for more in (0, 1) if ms + more < LONGEST_MS})


def _lateness_ms(steps: Sequence[Step], hold: Hold) -> int:
    """Return how long the hold lasts in that Run."""
    begun_ms = 0
    for step in steps:
        if holds(step, hold.what):
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
