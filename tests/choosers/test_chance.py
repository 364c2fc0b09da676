"""Chance: what is drawn for one Run is a function of (seed, run)."""

from __future__ import annotations

from collections import Counter

import pytest

from testbed.chooser import RunInfo
from testbed.choosers.sampling.chance import Chance


def test_draws_are_a_function_of_seed_and_run() -> None:
    """The same again; others for another seed or another Run."""
    rows = [[Chance(seed, n).below(1000) for _ in range(2)] for seed, n in ((1, 2), (2, 1), (1, 3))]
    assert rows[0][0] == rows[0][1]
    assert len({row[0] for row in rows}) == 3
    assert [Chance(0, 0).below(n) for n in (1, 10, 100, 1000)] == [0, 3, 34, 342]


def test_weights_are_kept_to() -> None:
    """In proportion; what weighs nothing is never drawn; if all do, that is an error."""
    chance = Chance(1, 0)
    counts = Counter(chance.weighted("abc", [1, 0, 3]) for _ in range(4000))
    assert counts["b"] == 0
    assert abs(counts["a"] - 1000) < 100
    with pytest.raises(ValueError, match="all 0"):
        chance.weighted("ab", [0, 0])


def test_faults_strike_no_more_often_than_allowed() -> None:
    """From none to all, each as likely, at places in order below the length."""
    chance = Chance(2, 0)
    strikes = [chance.strikes(RunInfo("s", 0, 3, lambda: 10), 10) for _ in range(400)]
    counts = Counter(map(len, strikes))
    assert sorted(counts) == [0, 1, 2, 3]
    assert min(counts.values()) > 70
    assert all(places == sorted(places) for places in strikes)
    assert {place for places in strikes for place in places} == set(range(10))
    assert chance.strikes(RunInfo("s", 0, 0, lambda: 10), 10) == []
