"""Wanted: how many pods a spec asks for, and how many a bound comes to."""

from __future__ import annotations

from actors.controllers.frame.wanted import part_of


def test_a_share_is_rounded_to_a_whole_pod() -> None:
    """Up or down, as asked; a number stands for itself."""
    bounds = (3, "50%", "0%", "100%", "1%")
    assert [part_of(bound, 7) for bound in bounds] == [3, 4, 0, 7, 1]
    assert [part_of(bound, 7, rounds_up=False) for bound in bounds] == [3, 3, 0, 7, 0]
