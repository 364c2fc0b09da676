"""bench search: how many Runs each Chooser takes to the first Violation of each race.

A race is a scenario with a `guard`, played with the guard off; scenarios that need no race
are left out. A trial is one Chooser with one seed: it plays until a Run is violated, or up to a
limit. A trial that reaches the limit is *censored*, and counts as longer than all others. Each line
shows the median of the trials of one Chooser.

If the interleavings of effects are few enough to play them all, one line (`all alike`) has the
median of an imagined Chooser for which all of them are equally likely: a Chooser is worth something
if it is faster than that.

The races that the first few seeds found are shrunk, as in a search. How many deviations are left
shows whether the races that a Chooser finds come down to the same few lines; and for each pair it
is said how many Runs and CPU seconds that took, from the recorded Run to the windows of its holds.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import closing, suppress
from fractions import Fraction
from random import Random
from time import process_time
from typing import Any

import attrs

from testbed.child import IN_ONE, Jobs
from testbed.chooser import Chooser, Plan, RunInfo
from testbed.choosers.sampling.sampler import Sampler
from testbed.errors import ScenarioError, UnknownName
from testbed.races.playing import race_of
from testbed.races.race import Race
from testbed.races.shrink import NOTING_RUNS, shrink
from testbed.races.window import windows
from testbed.search.sharing import shared_out
from testbed.turns.option import Choice, Option
from testbed.world.chooser_kinds import chooser_of, seeded
from testbed.world.scenario import Scenario, find, known, play_runs
from testbed.world.world import World

SEEDS = 21
RUNS_MAX = 200
INTERLEAVINGS_MAX = 1_000
RATED = 50
"""The number of Runs that are timed, in one session."""
SHRUNK = 3
"""The number of seeds of each Chooser whose first Violation is shrunk, unless another is asked."""
RESAMPLES = 1_000
"""The resamples of the bootstrap interval, which covers 95 in 100."""
SWITCHES = {"guard": "off"}


def length(seeds: int = SEEDS, scenario: str = "", chooser: str = "", **_: Any) -> int:
    """The number of trials to play, for the progress bar."""
    return seeds * len(_races(scenario)) * len(_choosers(chooser))


def measure(
    seeds: int = SEEDS,
    runs_max: int = RUNS_MAX,
    *,
    scenario: str = "",
    chooser: str = "",
    shrinks: int | None = None,
    jobs: Jobs = IN_ONE,
    done: Callable[[int], None] = lambda _: None,
) -> dict[str, Any]:
    """For each race and each Chooser, or only those named: the median of Runs to the first
    Violation. The races of so many seeds, if they have one, are shrunk."""
    races, names = _races(scenario), _choosers(chooser)
    parts = [(race, name) for race in races for name in names]

    def measured(number: int) -> _Measured:
        return _measured(*parts[number], seeds, runs_max, shrinks)

    figures: dict[str, Any] = {race.name: {} for race in races}
    made: dict[str, list[Shrinking]] = {race.name: [] for race in races}
    with closing(shared_out(measured, len(parts), jobs)) as every:
        for (race, name), (found, shrinkings) in zip(parts, every, strict=True):
            if not figures[race.name]:
                figures[race.name]["alike"] = alike(race)
            figures[race.name][name] = found
            made[race.name] += shrinkings
            done(seeds)
    for name, some in made.items():
        figures[name]["shrinking"] = shrinking(some)
    return figures


def _measured(
    race: Scenario, name: str, seeds: int, runs_max: int, shrinks: int | None
) -> _Measured:
    """The figures of one Chooser for one race, and what it took to shrink what it found."""
    trials = [trial(race, chooser_of(name, seed), runs_max) for seed in range(seeds)]
    made = [Shrinking.of(race, each) for each in shrinkable(trials, shrinks)]
    runs = [each.runs for each in trials]
    return {**summary(runs), **shrunk(made), "runs_per_s": _runs_per_s(race, name)}, made


def _races(name: str) -> list[Scenario]:
    if name:
        return [find(name)]
    pairs = [scenario for scenario in known() if "guard" in scenario.switches]
    return [pair for pair in pairs if not pair.world(SWITCHES).needs_no_race]


def _choosers(name: str) -> list[str]:
    names = seeded()
    if name and name not in names:
        raise UnknownName("chooser that draws", name, names, see="testbed run --help")
    return [name] if name else names


@attrs.frozen
class ChooserTrial:
    """The result of one Chooser with one seed."""

    runs: int | None
    """The number of the first violated Run, from 1; None if none was."""
    choices: Sequence[Choice] = ()
    """The choices of that Run."""


def trial(scenario: Scenario, chooser: Chooser, runs_max: int) -> ChooserTrial:
    """Play until a Run is violated, or `runs_max` Runs are over."""
    found: list[Sequence[Choice]] = []

    def look(world: World) -> bool:
        if world.verdict is not None and world.verdict.is_violated:
            found.append(world.trace.choices)
        return not found

    runs = play_runs(scenario, chooser, look, runs_max=runs_max, switches=SWITCHES, driver="direct")
    return ChooserTrial(runs, found[0]) if found else ChooserTrial(None)


def shrinkable(trials: Iterable[ChooserTrial], most: int | None = None) -> list[ChooserTrial]:
    """The first trials that found a race, so many at most."""
    return [each for each in trials if each.runs is not None][: SHRUNK if most is None else most]


@attrs.frozen
class Shrinking:
    """One race that was shrunk and measured."""

    race: Race
    runs: int
    """All Runs from the recorded one to the last that measured a window."""
    cpu_s: float

    @classmethod
    def of(cls, scenario: Scenario, found: ChooserTrial) -> Shrinking:
        """Shrink the race of a trial, and measure its windows."""
        began, measured = process_time(), list[int]()
        small = shrink(race_of(scenario, SWITCHES, found.choices), scenario)
        # Too many holds to measure them all: the Runs until then count all the same.
        with suppress(ScenarioError):
            windows(small.race, scenario, small.violation, lambda: measured.append(1), small.played)
        runs = NOTING_RUNS + 1 + small.runs + len(measured)
        return cls(small.race, runs, process_time() - began)


def shrunk(made: Sequence[Shrinking]) -> dict[str, Any]:
    """The median of deviations to which the races of a Chooser shrink, and the lines of the race of
    that size; None and no lines if it has found none."""
    if not made:
        return {"shrunk": None, "of_shrunk": 0, "lines": []}
    middle = sorted([each.race for each in made], key=len)[(len(made) - 1) // 2]
    return {"shrunk": len(middle), "of_shrunk": len(made), "lines": lines_of(middle)}


def shrinking(made: Sequence[Shrinking]) -> dict[str, Any]:
    """What it took to shrink the races of a pair: Runs and CPU seconds, in the median and at most;
    None if none was found."""
    runs, cpu_s = sorted(each.runs for each in made), sorted(each.cpu_s for each in made)
    middle = (len(made) - 1) // 2
    return {
        "races": len(made),
        "runs": runs[middle] if made else None,
        "runs_at_most": runs[-1] if made else None,
        "cpu_s": round(cpu_s[middle], 3) if made else None,
        "cpu_s_at_most": round(cpu_s[-1], 3) if made else None,
    }


_Measured = tuple[dict[str, Any], list[Shrinking]]


def lines_of(race: Race) -> list[str]:
    """The deviations of a race, as lines of a race file."""
    return [str(line) for line in race.lines]


def _runs_per_s(scenario: Scenario, name: str) -> int:
    """Runs in a CPU second of that Chooser, with its learning, violated or not."""
    chooser = chooser_of(name)
    began = process_time()
    play_runs(scenario, chooser, lambda _: True, runs_max=RATED, switches=SWITCHES, driver="direct")
    return round(RATED / (process_time() - began))


def summary(found: list[int | None]) -> dict[str, Any]:
    """The median of these trials, with its bootstrap interval; None counts as the longest."""
    low, high = interval(found)
    return {
        "median": median(found),
        "from": low,
        "to": high,
        "censored": sum(first is None for first in found),
        "of": len(found),
    }


def median(found: list[int | None]) -> int | None:
    """The median; of two middle ones the lower, so that it is one of the trials."""
    return sorted(found, key=_longest_last)[(len(found) - 1) // 2]


def interval(found: list[int | None]) -> tuple[int | None, int | None]:
    """The interval in which the median of such trials lies, 95 times in 100."""
    bits = Random("bench search").getrandbits
    medians = [
        median([found[(bits(32) * len(found)) >> 32] for _ in found]) for _ in range(RESAMPLES)
    ]
    medians.sort(key=_longest_last)
    return medians[RESAMPLES // 40], medians[-1 - RESAMPLES // 40]


def _longest_last(first: int | None) -> tuple[bool, int]:
    return first is None, first or 0


def alike(scenario: Scenario) -> int | None:
    """The median of Runs to the first Violation, if all interleavings of effects were equally
    likely. None if there are too many to play them all, or none of them is violated."""
    every = Every()
    violated = 0

    def look(world: World) -> bool:
        nonlocal violated
        violated += world.verdict is not None and world.verdict.is_violated
        return True

    runs_max = INTERLEAVINGS_MAX + 1
    played = play_runs(scenario, every, look, runs_max=runs_max, switches=SWITCHES, driver="direct")
    return median_of(Fraction(violated, played)) if every.is_exhausted and violated else None


def median_of(chance: Fraction) -> int:
    """The number of Runs after which one was violated with a chance of one half."""
    runs, missed = 0, Fraction(1)
    while missed > Fraction(1, 2):
        runs += 1
        missed *= 1 - chance
    return runs


class Every(Sampler):
    """Plays each interleaving of effects once, depth first, with nothing late and no fault."""

    strays = False

    def __init__(self) -> None:
        super().__init__(alone=False)
        self.is_exhausted = False
        self._taken: list[int] = []
        """At each effect of this Run, the index of the one that was taken."""
        self._of: list[int] = []
        """At each effect of this Run, how many were ready."""

    def begin(self, run: RunInfo) -> Plan | None:
        if run.number:
            while self._taken and self._taken[-1] + 1 == self._of[-1]:
                del self._taken[-1], self._of[-1]
            if not self._taken:
                self.is_exhausted = True
                return None
            self._taken[-1] += 1
        return super().begin(run)

    def effect(self, ready: list[Option]) -> Option:
        if self.effects == len(self._taken):
            self._taken.append(0)
            self._of.append(len(ready))
        return ready[self._taken[self.effects]]
