"""Usual: a search of one scenario as `testbed search` plays it by default, in this process."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from testbed.search.effort import EFFORTS, portfolio_of
from testbed.search.engines.here import Here
from testbed.search.planned_run import SearchTask
from testbed.search.player import Player
from testbed.search.search import UNWATCHED, Search, Watching


def usual_search(
    name: str, switches: Mapping[str, Any], seed: int, runs_max: int, *, shrinks: bool = True
) -> Search:
    """A search that was played until the first breach, or for that many Runs. If it does not shrink
    what it found, it ends with the whole race."""
    player = Player(SearchTask(name, dict(switches), seed=seed))
    portfolio = portfolio_of(EFFORTS["quick"], None, player.world().faults_max)
    breaches: list[object] = []
    watching = Watching(on_breach=breaches.append, is_over=lambda: bool(breaches))
    search = Search(
        player, portfolio, Here(player), runs_max=runs_max, until_first=True,
        watching=UNWATCHED if shrinks else watching,
    )  # fmt: skip
    search.play()
    return search
