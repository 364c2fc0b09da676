"""Coverage: what is new, and how likely the next Run is to show it."""

from __future__ import annotations

from testbed.search.coverage import Coverage


def test_a_pair_and_a_way_are_new_once() -> None:
    """A known pair in new company is a new way, and no new pair."""
    coverage = Coverage()
    assert coverage.add(0, ["a", "b"]) == (2, 1)
    assert coverage.add(1, ["a", "b"]) == (0, 0)
    assert coverage.add(2, ["a"]) == (0, 1)
    assert (coverage.pairs, coverage.ways, coverage.runs) == (2, 2, 3)


def test_the_chance_of_more_counts_runs_that_stand_alone() -> None:
    """Each Run in turn taken as the last: it was new if no other shows what it shows."""
    coverage = Coverage()
    for run in range(3):
        coverage.add(run, ["a"])
    assert coverage.chance_of_more == "not known after 3 runs"
    coverage.add(3, ["a", "b"])
    assert coverage.alone == 1
    assert coverage.chance_of_more == "about 1 in 4"
    coverage.add(4, ["a", "b"])
    assert coverage.chance_of_more == "likely under 3 in 5"
