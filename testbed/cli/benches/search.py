"""bench search: how many Runs each Chooser takes to the first Violation of each race.

Every scenario with a `guard`, if it needs a race at all, is played with the guard off, by every
Chooser that draws from a seed, once for each of some seeds, until it is violated or so many Runs
are over; then that trial is *censored*, and counts as longer than all that are not. Beside the
medians stand those of an imagined Chooser that takes each interleaving of the effects alike, where
these are few enough to play them all: what there is to gain by knowing nothing but their number.

What the first few seeds met is shrunk, as a search would: how many deviations are left says whether
a Chooser meets races that can be brought down to the same few lines.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction
from random import Random
from time import perf_counter
from typing import Any

import attrs

from testbed.chooser import Chooser, Plan, RunInfo
from testbed.choosers.sampling.sampler import Sampler
from testbed.errors import UnknownName
from testbed.races.playing import race_of
from testbed.races.race import Race
from testbed.races.shrink import shrink
from testbed.turns.option import Choice, Option
from testbed.world.chooser_kinds import chooser_of, seeded
from testbed.world.scenario import Scenario, find, known, play_runs
from testbed.world.world import World

SEEDS = 21
RUNS_MAX = 200
INTERLEAVINGS_MAX = 1_000
RATED = 50
"""So many Runs are timed, in one session."""
SHRUNK = 3
"""The first Violations of so many seeds are shrunk: each takes as long as a hundred Runs."""
RESAMPLES = 1_000
"""Of the bootstrap interval, which leaves out 5 in 100."""
SWITCHES = {"guard": "off"}


def length(seeds: int = SEEDS, scenario: str = "", chooser: str = "", **_: Any) -> int:
    """How many trials there are to be done."""
    return seeds * len(_races(scenario)) * len(_choosers(chooser))


def measure(
    seeds: int = SEEDS,
    runs_max: int = RUNS_MAX,
    *,
    scenario: str = "",
    chooser: str = "",
    done: Callable[[int], None] = lambda _: None,
) -> dict[str, Any]:
    """For each race, or one of them, and each Chooser, or one of them: Runs to the first Violation,
    in the median of the seeds."""
    figures: dict[str, Any] = {}
    names = _choosers(chooser)
    for race in _races(scenario):
        of_race = figures[race.name] = {"alike": alike(race)}
        for name in names:
            trials = []
            for seed in range(seeds):
                trials.append(trial(race, chooser_of(name, seed), runs_max))
                done(1)
            of_race[name] = {
                **summary([each.runs for each in trials]),
                **shrunk(race, trials),
                "runs_per_s": _runs_per_s(race, name),
            }
    return figures


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
    """What one Chooser of one seed has come to."""

    runs: int | None
    """Which Run, from 1, was the first to be violated; None if none was."""
    choices: Sequence[Choice] = ()
    """Of that Run."""


def trial(scenario: Scenario, chooser: Chooser, runs_max: int) -> ChooserTrial:
    """Play until a Run is violated, or so many are over."""
    found: list[Sequence[Choice]] = []

    def look(world: World) -> bool:
        if world.verdict is not None and world.verdict.is_violated:
            found.append(world.trace.choices)
        return not found

    runs = play_runs(scenario, chooser, look, runs_max=runs_max, switches=SWITCHES, driver="direct")
    return ChooserTrial(runs, found[0]) if found else ChooserTrial(None)


def first_violated(scenario: Scenario, chooser: Chooser, runs_max: int) -> int | None:
    """Which Run, from 1, is the first to be violated; None if none of so many is."""
    return trial(scenario, chooser, runs_max).runs


def shrunk(scenario: Scenario, trials: Iterable[ChooserTrial]) -> dict[str, Any]:
    """How many deviations the races of the first few trials that met one are shrunk to, in the
    median, and what the race of that size says; None and nothing if there was none."""
    met = [each for each in trials if each.runs is not None][:SHRUNK]
    wholes = [race_of(scenario, SWITCHES, each.choices) for each in met]
    races = [shrink(whole, scenario).race for whole in wholes]
    if not races:
        return {"shrunk": None, "of_shrunk": 0, "lines": []}
    middle = sorted(races, key=len)[(len(races) - 1) // 2]
    return {"shrunk": len(middle), "of_shrunk": len(races), "lines": lines_of(middle)}


def lines_of(race: Race) -> list[str]:
    """Its deviations, each as a race file says it."""
    return [str(line) for line in (*race.holds, *race.faults, *race.picks)]


def _runs_per_s(scenario: Scenario, name: str) -> int:
    """How fast it is, learning included, violated or not."""
    chooser = chooser_of(name)
    began = perf_counter()
    play_runs(scenario, chooser, lambda _: True, runs_max=RATED, switches=SWITCHES, driver="direct")
    return round(RATED / (perf_counter() - began))


def summary(found: list[int | None]) -> dict[str, Any]:
    """The median of these trials with its bootstrap interval; None is longer than all of them."""
    low, high = interval(found)
    return {
        "median": median(found),
        "from": low,
        "to": high,
        "censored": sum(first is None for first in found),
        "of": len(found),
    }


def median(found: list[int | None]) -> int | None:
    """The lower of the middle ones, so that it is one of them."""
    return sorted(found, key=_longest_last)[(len(found) - 1) // 2]


def interval(found: list[int | None]) -> tuple[int | None, int | None]:
    """Where the median of such trials would lie, 95 times in 100."""
    bits = Random("bench search").getrandbits
    medians = [
        median([found[(bits(32) * len(found)) >> 32] for _ in found]) for _ in range(RESAMPLES)
    ]
    medians.sort(key=_longest_last)
    return medians[RESAMPLES // 40], medians[-1 - RESAMPLES // 40]


def _longest_last(first: int | None) -> tuple[bool, int]:
    return first is None, first or 0


def alike(scenario: Scenario) -> int | None:
    """The median of Runs to the first Violation if every interleaving of effects were as likely;
    None if there are too many to play them all, or none of them is violated."""
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
    """After how many Runs it is as likely as not that one was violated."""
    runs, missed = 0, Fraction(1)
    while missed > Fraction(1, 2):
        runs += 1
        missed *= 1 - chance
    return runs


class Every(Sampler):
    """Takes each interleaving of effects once, depth first; nothing is late, and nothing fails."""

    strays = False

    def __init__(self) -> None:
        super().__init__(alone=False)
        self.is_exhausted = False
        self._taken: list[int] = []
        """At each effect of this Run, which of those that were ready."""
        self._of: list[int] = []
        """How many were."""

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
