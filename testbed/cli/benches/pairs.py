"""bench pairs: after how many Runs a search has the race of each pair, and how small it is.

Each pair is searched with its guard off, with some seeds, as `testbed search --until-first` does,
up to a limit. A search that finds nothing counts as longer than all others. Times are CPU seconds
from the first Run to the shrunk race with its window, without the start of the process.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import closing
from time import process_time
from typing import Any

import attrs

from testbed.child import IN_ONE, Jobs
from testbed.search.sharing import shared_out
from testbed.search.usual import usual_search
from testbed.world.scenario import GUARD, Scenario, find, known

SEEDS = 3
RUNS_MAX = 3_000


@attrs.frozen
class FoundRace:
    """What one search has come to."""

    runs: int | None
    """After how many Runs it was found; None if it was not."""
    cpu_s: float
    deviations: int = 0
    faults: int = 0
    window_ms: int | None = None
    """The width of its window; None if only the order matters, or none is known."""
    cut_off: str = ""


def length(seeds: int = SEEDS, scenario: str = "", **_: Any) -> int:
    """The number of searches, for the progress bar."""
    return seeds * len(_pairs(scenario))


def measure(
    seeds: int = SEEDS,
    runs_max: int = RUNS_MAX,
    *,
    scenario: str = "",
    jobs: Jobs = IN_ONE,
    done: Callable[[int], None] = lambda _: None,
) -> dict[str, Any]:
    """For each pair, or the one named: Runs until it is found, and what it is shrunk to."""
    pairs = _pairs(scenario)
    parts = [(pair, seed) for pair in pairs for seed in range(seeds)]
    found: dict[str, list[FoundRace]] = {pair.name: [] for pair in pairs}

    def searched(number: int) -> FoundRace:
        return search(*parts[number], runs_max)

    with closing(shared_out(searched, len(parts), jobs)) as every:
        for (pair, _), one in zip(parts, every, strict=True):
            found[pair.name].append(one)
            done(1)
    return {name: summary(some) for name, some in found.items()}


def _pairs(name: str) -> list[Scenario]:
    return [find(name)] if name else [each for each in known() if each.has_guard]


def search(pair: Scenario, seed: int, runs_max: int) -> FoundRace:
    """Search one pair until its race is found and shrunk."""
    began = process_time()
    search = usual_search(pair.name, {GUARD: "off"}, seed, runs_max)
    cpu_s = process_time() - began
    if not search.found:
        return FoundRace(None, cpu_s)
    finding = search.found[0]
    return FoundRace(
        finding.runs, cpu_s, finding.deviations, len(finding.faults), finding.window_ms,
        finding.not_shrunk,
    )  # fmt: skip


def summary(searches: Sequence[FoundRace]) -> dict[str, Any]:
    """The median and the worst of some searches of one pair."""
    found = [each for each in searches if each.runs is not None]
    runs = sorted(each.runs or 0 for each in found) + [None] * (len(searches) - len(found))
    cpu_s = sorted(each.cpu_s for each in searches)
    middle = (len(searches) - 1) // 2
    windows = [each.window_ms for each in found if each.window_ms is not None]
    return {
        "found": len(found),
        "of": len(searches),
        "runs": runs[middle],
        "runs_at_most": runs[-1],
        "cpu_s": round(cpu_s[middle], 2),
        "cpu_s_at_most": round(cpu_s[-1], 2),
        "deviations_at_most": max((each.deviations for each in found), default=None),
        "faults_at_most": max((each.faults for each in found), default=None),
        "window_ms": min(windows, default=None),
        "cut_off": sum(bool(each.cut_off) for each in found),
    }
