"""Levels 6, 7 and 10: each claim of theirs is breached by an answer that misses just that."""

from __future__ import annotations

import attrs
import pytest

from scenarios.levels.wrong import kept_seat, one_seat, rush_hour
from testbed.client.actor import Actor
from testbed.teaching.checked import TriedTrial
from testbed.teaching.checking import careless_race, check
from testbed.teaching.ladder import level_of

LAWFUL = "the same, and the other pod is more important"
BREACHES: list[tuple[int, type[Actor], str, str]] = [
    (6, one_seat.TouchesTheNode, "one node, with room for one pod", "no_node_is_overcommitted"),
    (6, one_seat.ReservesTheSameAgain, "one node, with room for one pod", "few_conflicts"),
    (6, one_seat.OneNodeEach, "one node, with room for both pods", "no_pod_waits_beside_room"),
    (7, kept_seat.HonoursItsOwn, "one victim, and room for one pod", "kept_room_is_not_taken"),
    (7, kept_seat.TakesVictimsForGone, LAWFUL, "no_node_is_overcommitted"),
    (7, kept_seat.WaitsForAnyNomination, "another node has room", "no_pod_waits_for_nothing"),
    (10, rush_hour.DeletesEquals, "one node, two pods", "no_more_is_deleted_than_it_takes"),
    (10, rush_hour.CountsNoVictims, "an urgent pod comes", "no_node_is_overcommitted"),
    (10, rush_hour.ForgetsWhatIsKept, "a pod comes before it runs", "kept_room_is_not_taken"),
    (10, rush_hour.NeverMakesRoom, "an urgent pod comes", "each_pod_that_fits_runs"),
]


def refused_in(number: int, answer: type[Actor], name: str) -> TriedTrial:
    """What a check of that answer shows in that one trial, which refuses it."""
    level = level_of(number)
    trials = tuple(trial for trial in level.trials if trial.name == name)
    refused = check(attrs.evolve(level, trials=trials), answer).refused
    assert refused is not None
    return refused


@pytest.mark.parametrize(
    ("number", "answer", "name", "claim"),
    BREACHES,
    ids=[f"{number}-{claim}" for number, _, _, claim in BREACHES],
)
def test_each_claim_is_breached(number: int, answer: type[Actor], name: str, claim: str) -> None:
    """A claim that no answer breached would prove nothing."""
    assert refused_in(number, answer, name).claim == claim


def test_a_more_important_pod_may_take_the_room() -> None:
    """An answer that lets it wait is refused, by the claim that no pod waits for nothing."""
    refused = refused_in(7, kept_seat.HonoursAll, LAWFUL)
    assert refused.said == "late waits, and n1 has room for it"


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (rush_hour.DeletesAllThatIsThere, "e is deleted, and no pod waits that is more important"),
        (rush_hour.DeletesAllThatIsLess, "w is deleted, and there is room"),
        (rush_hour.DeletesAllVictims, "w is deleted, and there is room"),
    ],
)
def test_no_more_is_deleted_than_it_takes(answer: type[Actor], said: str) -> None:
    """Not an equal of the node, not what is less important elsewhere, and not a second victim."""
    refused = refused_in(10, answer, "one victim is enough")
    assert (refused.claim, refused.said) == ("no_more_is_deleted_than_it_takes", said)


def test_the_question_of_level_6_has_that_answer() -> None:
    """The server accepts both binds, and the node has more than it can hold."""
    level = level_of(6)
    assert level.guess.choices[level.guess.answer - 1] == "it accepts both"
    assert careless_race(level).said == "n1 has 1000m cpu, and its pods ask for 1600m"


def test_the_question_of_level_7_has_that_answer() -> None:
    """The server accepts a bind into room that is kept for another pod."""
    level = level_of(7)
    assert level.guess.choices[level.guess.answer - 1] == "it accepts the bind"
    assert careless_race(level).said == "n1 was kept for urgent, and late has taken it"


def test_the_question_of_level_10_has_that_answer() -> None:
    """A pod that is nominated to a node that is gone waits until the end of the Run."""
    level = level_of(10)
    assert level.guess.choices[level.guess.answer - 1] == "for ever"
    refused = refused_in(10, rush_hour.TrustsItsNomination, "a node is removed")
    assert refused.said == "u waits, and could run"
