"""Scoring: answers that pass are told apart, and the same one always has the same score."""

from __future__ import annotations

from importlib import import_module

from testbed.teaching.ladder import level_of, levels
from testbed.teaching.scoring import score, score_text

RUSH = level_of(10)
RIGHT = import_module("teaching.right.rush_hour")


def test_who_asks_less_has_the_better_score() -> None:
    """One that takes a lock for each pod writes more than one that claims its node."""
    claims, locks = (score(RUSH, each) for each in (RIGHT.ClaimsItsNode, RIGHT.TakesTheLock))
    assert [*claims] == [*locks] == ["time to bind, median", "time to bind, p95", "API writes"]
    assert 0 < claims["API writes"] < locks["API writes"]
    assert 0 < claims["time to bind, median"] < 20_000
    assert score(RUSH, RIGHT.ClaimsItsNode) == claims


def test_a_time_that_is_never_reached_is_said_so() -> None:
    """Some pods of some Worlds have no place."""
    assert score_text({"API writes": 1_200, "time to bind, p95": -1}) == (
        "API writes 1,200; time to bind, p95 never"
    )


def test_the_other_levels_have_none() -> None:
    """They are passed or not."""
    assert [level.number for level in levels() if level.scored_by] == [10]
    assert score(level_of(1), import_module("teaching.right.lost_count").ReadsAgain) == {}
