"""Destinations: which nodes are tied by a place that both would have used."""

from __future__ import annotations

from actors.autoscaler.scale_down.planning.destinations import USES_MAX, Destinations


def test_a_node_that_is_used_does_not_tie_those_that_use_it() -> None:
    """When a destination itself goes, the clocks of others run on."""
    ties = Destinations()
    ties.note("a", "x", 0)
    ties.note("b", "x", 0)
    assert ties.leave("x", "abx") == ["x"]
    assert ties.leave("a", "ab") == ["a"]


def test_old_trials_tie_nothing() -> None:
    """What was tried before the cutoff is forgotten, and what is tried again is not."""
    ties = Destinations()
    ties.note("a", "x", 0)
    ties.note("b", "x", 10)
    ties.note("c", "x", 11)
    ties.forget_before(10)
    assert ties.leave("c", "abc") == ["b", "c"]
    assert not Destinations().digest(0)


def test_a_node_of_too_many_uses_is_tied_to_all() -> None:
    """Beyond fifty it is no longer noted who they are, and nothing of it is forgotten."""
    ties = Destinations()
    for n in range(USES_MAX + 1):
        ties.note(f"n{n:02}", "x", 0)
    ties.forget_before(100)
    ties.note("late", "x", 100)
    ties.note("n00", "x", 100)
    assert ties.leave("n00", ["p", "q"]) == ["n00", "p", "q"]
