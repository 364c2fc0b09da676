"""Runs to play, and a search to play them in."""

from __future__ import annotations

from typing import Any

from testbed.search.bounds import Bounds
from testbed.search.engines.here import Here
from testbed.search.engines.processes import Processes
from testbed.search.planned_run import PlannedRun, SearchTask
from testbed.search.player import Player
from testbed.search.portfolio import ARMS, Portfolio
from testbed.search.search import Search


def search_of(task: SearchTask, *, workers: int = 0, faults_max: int = 1, **more: Any) -> Search:
    """A search of 80 Runs, in this process or in `workers` others."""
    player = Player(task)
    bounds = Bounds(faults_max=min(faults_max, player.world().faults_max), deviations_max=1)
    engine = Processes(player, workers) if workers else Here(player)
    return Search(player, Portfolio(ARMS, bounds), engine, **{"runs_max": 80, **more})


CHOOSERS = ["pct", "pos", "surw", "uniform", "urw"]


def planned_runs(count: int) -> list[PlannedRun]:
    """The first `count` Runs, each Chooser in its turn."""
    return [PlannedRun(run, CHOOSERS[run % len(CHOOSERS)]) for run in range(count)]
