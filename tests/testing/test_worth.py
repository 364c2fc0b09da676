"""Worth: which mistakes a claim finds, and where it fires though nothing is wrong."""

from __future__ import annotations

from typing import Any

import pytest

from actors.apiserver.mutants import MUTANTS
from testbed.errors import ScenarioError
from testbed.invariant import Evidence, Invariant, always, quiescent
from testbed.testing.worth import Answered, Ground, ask, fired_in, grounds, made
from testbed.world.scenario import find
from tests.each_row import each_row

SCENARIOS = [find("lost_update"), find("one_larger_victim")]
SOME = [each for each in MUTANTS if each.name in ("held", "unpaid")]
PLACES = grounds(SOME, SCENARIOS)


def no_name_is_missing(see: Evidence) -> str | None:
    """The list has as many names as were recorded."""
    entry = see.store.peek("notes/default/list")
    if entry is None:
        return None
    names = entry.value.data["signed"].split()  # type: ignore[attr-defined]
    signed = [record for record in see.records if record.name == "signed"]
    return None if len(names) >= len(signed) else f"notes/default/list has only {names}"


def nothing_is_written(see: Evidence) -> str | None:
    """Breached by everything."""
    return f"{see.changes[0].key} is written" if see.changes else None


def never(see: Evidence) -> str | None:
    """Breached by nothing."""
    return None


def claims() -> list[Invariant]:
    """One that is good, one that cries wolf, one that says nothing."""
    return [quiescent(no_name_is_missing), always(nothing_is_written), always(never)]


@pytest.fixture(scope="module")
def asked() -> list[tuple[Ground, Answered]]:
    """What they say in every one of these Worlds."""
    return [(place, ask(place, claims, "here", runs_max=20, seed=0)) for place in PLACES]


def test_they_are_asked_where_something_is_wrong_and_where_nothing_is() -> None:
    """In each mutant, in both sides of each pair, and in what has no guard."""
    assert [(place.name, place.is_wrong) for place in PLACES] == [
        ("held", True), ("unpaid", True), ("lost_update guard=off", True),
        ("lost_update guard=on", False), ("one_larger_victim", False),
    ]  # fmt: skip


def test_a_good_claim_finds_its_mistake_and_fires_nowhere_else(
    asked: list[tuple[Ground, Answered]],
) -> None:
    """The words that it said there are kept."""
    found = fired_in("no_name_is_missing", asked, wrong=True)
    assert list(found) == ["lost_update guard=off"]
    assert found["lost_update guard=off"].startswith("notes/default/list has only ")
    assert fired_in("no_name_is_missing", asked, wrong=False) == {}


def test_one_that_cries_wolf_and_one_that_says_nothing_are_seen(
    asked: list[tuple[Ground, Answered]],
) -> None:
    """The first fires everywhere, the other nowhere."""
    assert len(fired_in("nothing_is_written", asked, wrong=True)) == 3
    assert len(fired_in("nothing_is_written", asked, wrong=False)) == 2
    assert fired_in("never", asked, wrong=True) == {}


def test_it_ends_with_the_first_run_in_which_all_have_fired() -> None:
    """So a claim that finds much costs little."""
    one = ask(PLACES[0], lambda: [always(nothing_is_written)], "here", runs_max=20, seed=0)
    assert one.runs == 1


@each_row("found", [[], [never], 7, list])
def test_what_makes_no_claims_is_refused(found: Any) -> None:
    """With what a function of claims looks like."""
    with pytest.raises(ScenarioError, match=r"mine\.py:claims: expected a function that returns a"):
        made(lambda: found, "mine.py:claims")


def test_a_claim_that_raises_is_told_with_its_world() -> None:
    """It may know less of that World than of the one it was written for."""

    def hasty(see: Evidence) -> str | None:
        raise KeyError("cpu")

    said = r"here: in the World of held a claim raised KeyError: 'cpu' \(.*test_worth.py, line \d+"
    with pytest.raises(ScenarioError, match=said):
        ask(PLACES[0], lambda: [always(hasty)], "here", runs_max=2, seed=0)
