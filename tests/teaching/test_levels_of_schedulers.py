"""Levels 6 to 10: each claim is breached by an answer that misses just that."""

from __future__ import annotations

import attrs
import pytest

from scenarios.levels.wrong import kept_seat, one_seat, past_holder, put_back, rush_hour
from testbed.client.actor import Actor
from testbed.teaching.checked import TriedTrial
from testbed.teaching.checking import careless_race, check
from testbed.teaching.ladder import level_of
from tests.each_row import each_row

LAWFUL = "the same, and the other pod is more important"
AWAY, AWAY_LATER = "a replica is away for 45 s", "each request takes half a second, and alpha is"
FULL, FULL_FOR_NOW = "the other node is full, calmly", "the other node is full for some minutes"
BREACHES: list[tuple[int, type[Actor], str, str]] = [
    (6, one_seat.TouchesTheNode, "one node, with room for one pod", "no_node_is_overcommitted"),
    (6, one_seat.ReservesTheSameAgain, "one node, with room for one pod", "few_conflicts"),
    (6, one_seat.OneNodeEach, "one node, with room for both pods", "no_pod_waits_beside_room"),
    (7, kept_seat.HonoursItsOwn, "one victim, and room for one pod", "kept_room_is_not_taken"),
    (7, kept_seat.TakesVictimsForGone, LAWFUL, "no_node_is_overcommitted"),
    (7, kept_seat.WaitsForAnyNomination, "another node has room", "no_pod_waits_for_nothing"),
    (8, past_holder.NamesTheRevision, AWAY, "no_past_holder_binds"),
    (8, past_holder.DecidesBeforeItTouches, f"{AWAY_LATER} away for 18 s", "no_node_has_two_pods"),
    (8, past_holder.BindsTheOldest, AWAY, "the_most_important_goes_first"),
    (8, past_holder.EndsWhenItIsRefused, AWAY, "every_node_gets_a_pod"),
    (9, put_back.CountsTheNodes, FULL, "no_lasso"),
    (9, put_back.BacksOff, FULL, "evictions_end"),
    (9, put_back.NeverEvicts, FULL_FOR_NOW, "duplicates_that_can_move_have_moved"),
    (9, put_back.MakesRoom, FULL, "only_duplicates_are_evicted"),
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


@each_row(
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


FIRST: list[tuple[int, type[Actor], str]] = [
    (8, past_holder.ReadsItsTermBefore,
     "three nodes, requests that take their time, and alpha is away for 20 s"),
    (9, put_back.LeavesSomeRoom, "the other node has room for one pod"),
]  # fmt: skip
"""Answers that each hold in all trials of their level before that one."""


@pytest.mark.parametrize(("number", "answer", "name"), FIRST)
def test_that_trial_refuses_an_answer_first(number: int, answer: type[Actor], name: str) -> None:
    """It is not there for nothing."""
    refused = check(level_of(number), answer).refused
    assert refused is not None
    assert refused.name == name


@each_row(
    ("number", "choice", "said"),
    [
        (6, "it accepts both", "n1 has 1000m cpu, and its pods ask for 1600m"),
        (7, "it accepts the bind", "n1 was kept for urgent, and late has taken it"),
        (8, "it lands", "alpha bound a as a past holder: "),
        (9, "for ever", "for ever, a lap of 4 writes in 15,000 ms"),
    ],
)
def test_its_question_has_that_answer(number: int, choice: str, said: str) -> None:
    """The race of the careless program shows it."""
    level = level_of(number)
    assert choice in level.guess.choices[level.guess.answer - 1]
    assert careless_race(level).said.startswith(said)


def test_a_pod_that_is_evicted_for_a_full_node_needs_no_race() -> None:
    """The calm run of level 9 proves its loop."""
    assert "holds:" not in careless_race(level_of(9)).race


def test_the_question_of_level_10_has_that_answer() -> None:
    """A pod that is nominated to a node that is gone waits until the end of the Run."""
    level = level_of(10)
    assert level.guess.choices[level.guess.answer - 1] == "for ever"
    refused = refused_in(10, rush_hour.TrustsItsNomination, "a node is removed")
    assert refused.said == "u waits, and could run"
