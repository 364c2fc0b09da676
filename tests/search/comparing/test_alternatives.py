"""Which settings a command line compares."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from testbed import World
from testbed.errors import ScenarioError
from testbed.search.comparing.alternatives import alternatives_of, two_of
from testbed.world.scenario import of


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
def test_without_a_second_value_there_is_one_alternative(given: list[str]) -> None:
    """A value given twice is no second one; nor does it take others from being compared."""
    (found,) = alternatives_of(given)
    assert dict(found.switches) == dict(text.split("=") for text in given)
    assert len(alternatives_of([*given, "c=1", "c=2"])) == 2


def full(world: World, *, mode: str = "a", seats: int = 2, guard: bool = False) -> None:
    """A scenario with a switch of each type."""


def numbers(world: World, *, mode: str = "a", seats: int = 2) -> None:
    """One without a guard."""


def bare(world: World) -> None:
    """One without switches."""


@pytest.mark.parametrize(("recipe", "given", "two"), [
    (full, [], ["guard=off", "guard=on"]),
    (full, ["guard=on"], ["guard=on", "guard=off"]),
    (full, ["guard=on,seats=3"], ["guard=on,seats=3", "guard=off"]),
    (full, ["mode=b", "seats=3"], ["mode=b", "seats=3", "guard=off", "guard=on"]),
    (full, ["x.depth=1", "x.depth=1"], ["x.depth=1", "guard=off", "guard=on"]),
    (numbers, ["seats=3"], ["seats=3", "seats=4"]),
    (numbers, ["mode=b"], ["mode=b", "seats=2", "seats=3"]),
    (bare, ["x.depth=1"], ["x.depth=1", "profile=k8s-1.26", "profile=k8s-modern"]),
])  # fmt: skip
def test_one_alternative_is_made_two(
    recipe: Callable[..., None], given: list[str], two: list[str]
) -> None:
    """With the user's own switches, and another value of one that the scenario has."""
    assert two_of(of(recipe), given) == two
    assert len(alternatives_of(two)) == 2


def test_a_switch_without_a_value_is_an_error() -> None:
    """As for every other command."""
    with pytest.raises(ScenarioError, match="expected NAME=VALUE"):
        alternatives_of(["a", "a=1", "a=2", "b"])
