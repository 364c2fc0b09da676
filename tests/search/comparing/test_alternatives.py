"""Which settings a command line compares."""

from __future__ import annotations

import pytest

from testbed.errors import ScenarioError
from testbed.search.comparing.alternatives import alternatives_of


def test_a_switch_given_several_times_is_compared_and_one_given_once_is_for_all() -> None:
    """In the order in which they are given; a value given twice is one alternative."""
    found = alternatives_of(["guard=on", "mode=a", "mode=b", "mode=a"])
    assert [each.name for each in found] == ["mode=a", "mode=b"]
    assert [dict(each.switches) for each in found] == [
        {"guard": "on", "mode": "a"}, {"guard": "on", "mode": "b"},
    ]  # fmt: skip


def test_more_switches_stand_behind_a_comma() -> None:
    """A comma within a value is no such comma, and what an alternative says itself wins."""
    found = alternatives_of(["x.depth=1", "mode=a", "mode=a,x.depth=2", "mode=-B,-C,y=3"])
    assert [dict(each.switches) for each in found] == [
        {"x.depth": "1", "mode": "a"}, {"x.depth": "2", "mode": "a"},
        {"x.depth": "1", "mode": "-B,-C", "y": "3"},
    ]  # fmt: skip


def test_of_several_such_switches_every_combination_is_compared() -> None:
    """The last one varies first."""
    found = alternatives_of(["a=1", "a=2", "b=1", "b=2"])
    assert [each.name for each in found] == ["a=1,b=1", "a=1,b=2", "a=2,b=1", "a=2,b=2"]


@pytest.mark.parametrize("given", [[], ["a=1"], ["a=1", "b=2"], ["a=1", "a=1"]])
def test_nothing_to_compare_is_an_error(given: list[str]) -> None:
    """It says what was expected."""
    with pytest.raises(ScenarioError, match="expected a switch that is given several times"):
        alternatives_of(given)


def test_a_switch_without_a_value_is_an_error() -> None:
    """As for every other command."""
    with pytest.raises(ScenarioError, match="expected NAME=VALUE"):
        alternatives_of(["a", "a=1", "a=2", "b"])
