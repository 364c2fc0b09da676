"""class_made_anew: pods of one class with two priorities, and how they preempt each other."""

from __future__ import annotations

from typing import Any

import pytest

from testbed.races.playing import Played, play
from testbed.world.scenario import find
from tests.models.worlds.shelved import race_named

RECIPE = find("class_made_anew")
RACE = race_named("class_made_anew")


def pods(played: Played) -> list[tuple[str, int, str]]:
    """Where each pod is in the end, its priority and its class."""
    found: list[Any] = [entry.value for entry in played.world.store.snapshot("pods/")]
    return sorted((p.spec.node_name, p.priority, p.spec.priority_class_name) for p in found)


def victims(played: Played) -> list[str]:
    """Each pod that room was made at the cost of, in turn."""
    found = (r.facts.get("preemption", {}) for r in played.world.table.records if r.name == "cycle")
    return [
        key
        for each in found
        if each.get("chosen")
        for key in each["candidates"][each["chosen"]]["victims"]
    ]


@pytest.mark.spec("PRI-8", "PRI-18")
def test_a_scale_up_without_room_costs_every_replica_that_was_there() -> None:
    """One after another: who is created in place of the first preempts the second. In the
    end as many run as before, and one waits."""
    played = play(RACE, RECIPE, switches={"guard": "off"}, goes_on=True)
    made: list[Any] = [
        change.new.value
        for change in played.world.store.log("pods").changes
        if change.old is None and change.new is not None
    ]
    old = [pod.key for pod in made if pod.priority == 10]
    assert (len(old), sorted(victims(played))) == (2, sorted(old))
    assert pods(played) == [("", 1000, "web"), ("n1", 1000, "web"), ("n2", 1000, "web")]


@pytest.mark.spec("PRI-5", "PRI-8")
def test_with_a_class_of_another_name_both_stay() -> None:
    """And the third replica waits as one of theirs."""
    played = play(RACE, RECIPE, switches={"guard": "on"})
    assert (victims(played), pods(played)) == (
        [],
        [("", 10, "web"), ("n1", 10, "web"), ("n2", 10, "web")],
    )
