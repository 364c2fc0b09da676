"""Arithmetic of amounts: what covers, exceeds, fits and misses what (YK-20, YK-23)."""

from __future__ import annotations

import pytest

from actors.yunikorn.amounts import (
    covers,
    exceeds,
    fits,
    is_something,
    is_within,
    minus,
    missing,
    plus,
)


@pytest.mark.spec("YK-23")
def test_what_is_not_named_is_zero() -> None:
    """On either side: a debt of something that nobody asks for is not covered."""
    assert covers({"cpu": 2}, {"cpu": 2, "memory": 0})
    assert not covers({"cpu": 2}, {"cpu": 2, "memory": 1})
    assert not covers({"cpu": 2, "memory": -1}, {"cpu": 2})
    assert plus({"a": 1}, {"b": 2}) == {"a": 1, "b": 2}
    assert minus({"a": 1}, {"b": 2}) == {"a": 1, "b": -2}


@pytest.mark.spec("YK-20")
def test_only_what_is_nowhere_less_and_somewhere_more_exceeds() -> None:
    """Equal amounts do not, and neither of two that differ both ways."""
    assert exceeds({"cpu": 2}, {"cpu": 1})
    assert not exceeds({"cpu": 2}, {"cpu": 2})
    assert not exceeds({"cpu": 2, "memory": 1}, {"cpu": 1, "memory": 2})
    assert not exceeds({"cpu": 1, "memory": 2}, {"cpu": 2, "memory": 1})


def test_room_is_what_is_left_and_a_debt_is_none() -> None:
    """What is asked for must be there, and a limit binds only what it names."""
    assert fits({"cpu": 1}, {"cpu": 1})
    assert not fits({"cpu": 1}, {"cpu": 1, "gpu": 1})
    assert fits({"cpu": -1}, {"cpu": 0})
    assert missing({"cpu": 3, "memory": 1}, {"cpu": 1, "memory": 1}) == {"cpu": 2}
    assert missing({"cpu": 3}, {"cpu": -1}) == {"cpu": 4}
    assert is_within({"cpu": 1}, {"cpu": 1, "memory": 9})
    assert not is_within({"cpu": 1}, {"cpu": 2})
    assert is_something({"cpu": 0, "memory": 1})
    assert not is_something({"cpu": 0})
