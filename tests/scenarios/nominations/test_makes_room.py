"""makes_room: room becomes free in two halves, and nobody else gets the first."""

from __future__ import annotations

import pytest

from tests.models.clusters.calm_story import calm_story

PREEMPTED = ["1 delete a until 61", "1 delete b until 31", "1 nominate c n1", "31 remove b"]


@pytest.mark.spec("SCH-59", "SCH-72", "SCH-102")
def test_the_half_that_is_free_is_kept() -> None:
    """B is gone after 30 s and A after 60 s; C is bound then, D never, and nobody goes twice."""
    wrong, seen = calm_story("makes_room")
    assert wrong == ""
    assert seen[4:] == [*PREEMPTED, "61 remove a", "61 bind c n1", "61 phase c Running"]


@pytest.mark.spec("SCH-59")
def test_it_is_given_away_if_nominations_do_not_count() -> None:
    """Then D gets it at once, which breaks the claim."""
    wrong, seen = calm_story("makes_room", {"scheduler.nominated_accounting": "none"})
    assert wrong == "pods/default/d is on n1, where room was made for c"
    assert seen[4:] == [*PREEMPTED, "31 bind d n1"]


def test_nobody_is_bound_there_without_preemption() -> None:
    """The other claim is broken then."""
    wrong, _ = calm_story("makes_room", {"scheduler.disable_preemption": "on"})
    assert wrong == "room was made on n1 for pods/default/c, and it is not there"
