"""How sure a figure is."""

from __future__ import annotations

import pytest

from testbed.search.comparing.resampling import difference, draws_of, estimate, is_distinct
from testbed.search.comparing.sample import Sample, per_run, quantile, share

MEAN, RATIO = per_run("mean"), share("ratio")
MEDIAN, P95 = quantile("median", 50), quantile("p95", 95)


def counts(*numbers: int) -> list[Sample]:
    """A Sample for each Run."""
    return [Sample(number) for number in numbers]


def test_an_interval_holds_the_value_and_is_always_the_same() -> None:
    """It is drawn, from a seed of its own; more Runs make it narrower."""
    few, many = counts(0, 4, 2, 6), counts(*[0, 4, 2, 6] * 25)
    narrow, wide = estimate(MEAN, many, draws_of(100)), estimate(MEAN, few, draws_of(4))
    assert wide == estimate(MEAN, few, draws_of(4))
    assert wide.value == narrow.value == 3
    assert wide.low is not None
    assert narrow.low is not None
    assert wide.low < narrow.low < 3
    assert (wide.low, wide.high) == (1.0, 5.0)


def test_equal_whole_numbers_leave_no_doubt() -> None:
    """They are told without an interval; a share of equal Runs is not."""
    found = estimate(MEAN, counts(7, 7, 7), draws_of(3))
    assert (found.value, found.low, found.high, found.is_exact) == (7, 7, 7, True)
    assert not estimate(RATIO, [Sample(1, 2)] * 3, draws_of(3)).is_exact


def test_alternatives_are_compared_run_by_run() -> None:
    """Runs differ widely, and each costs one more in the second: that is certain."""
    first, second = counts(0, 100, 20, 60, 3), counts(1, 101, 21, 61, 4)
    draws = draws_of(5)
    apart = difference(MEAN, second, first, draws)
    assert (apart.value, apart.low, apart.high) == (1, 1, 1)
    assert is_distinct(apart)
    one, other = estimate(MEAN, first, draws), estimate(MEAN, second, draws)
    assert one.high is not None
    assert other.low is not None
    assert other.low < one.high, "though neither interval could tell that"
    assert not is_distinct(difference(MEAN, counts(0, 2), counts(1, 1), draws_of(2)))


def test_a_share_is_that_of_all_runs_together() -> None:
    """Not the mean of the shares; without anything to share it is unknown."""
    samples = [Sample(1, 1), Sample(9, 3), Sample(0, 0)]
    assert RATIO.value(samples) == pytest.approx(2.5)
    assert RATIO.value([Sample()]) is None
    assert estimate(RATIO, [Sample(), Sample(1, 1)], draws_of(2)).low is None


def test_a_quantile_is_a_time_that_was_seen_or_never() -> None:
    """What has not happened by the end of a Run is later than all that has."""
    samples = [Sample(times_ms=(10, 30)), Sample(times_ms=(20, None))]
    assert (MEDIAN.value(samples), P95.value(samples)) == (20, float("inf"))
    assert MEDIAN.value([Sample()]) is None
    never = [Sample(times_ms=(None,))]
    found = difference(MEDIAN, never, never, draws_of(1))
    assert (found.value, is_distinct(found)) == (0, False)
