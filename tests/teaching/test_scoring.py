"""Scoring: answers that pass are told apart, and the same one always has the same score."""

from __future__ import annotations

from importlib import import_module

import attrs
import pytest

from testbed import Client
from testbed.teaching.ladder import level_of, levels
from testbed.teaching.scoring import RUNS, score, score_text

RUSH = level_of(10)
RIGHT = import_module("tests.teaching.right.rush_hour")


def test_who_asks_less_has_the_better_score() -> None:
    """One that takes a lock for each pod writes more than one that claims its node."""
    claims, locks = (score(RUSH, each) for each in (RIGHT.ClaimsItsNode, RIGHT.TakesTheLock))
    assert [*claims] == [*locks] == ["time to bind, median", "time to bind, p95", "API writes"]
    assert 0 < claims["API writes"] < locks["API writes"]
    assert 0 < claims["time to bind, median"] < 20_000
    assert score(RUSH, RIGHT.ClaimsItsNode) == claims


@pytest.mark.parametrize("name", ["OneDecidesForAll", "PassesTheTurn"])
def test_a_right_answer_reaches_each_time(name: str) -> None:
    """Only Worlds count in which each pod has a place."""
    assert min(score(RUSH, getattr(RIGHT, name)).values()) >= 0


def test_a_world_is_played_once_only() -> None:
    """Though two trials have it."""
    runs = 0

    class CountsItsRuns(RIGHT.ClaimsItsNode):  # type: ignore[name-defined, misc]
        """Counts how often one of its kind starts."""

        async def run(self, client: Client) -> None:
            nonlocal runs
            runs += 1
            await super().run(client)

    trial = next(trial for trial in RUSH.trials if trial.is_scored)
    again = attrs.evolve(trial, name="the same once more")
    score(attrs.evolve(RUSH, trials=(trial, again)), CountsItsRuns)
    assert runs == RUNS * 2, "there are two schedulers"


def test_a_time_that_is_never_reached_is_said_so() -> None:
    """An own level may score Worlds in which not each pod has a place."""
    assert score_text({"API writes": 1_200, "time to bind, p95": -1}) == (
        "API writes 1,200; time to bind, p95 never"
    )


def test_the_other_levels_have_none() -> None:
    """They are passed or not."""
    assert [level.number for level in levels() if level.scored_by] == [10]
    assert score(level_of(1), import_module("tests.teaching.right.lost_count").ReadsAgain) == {}
