"""Levels 8 and 9: each claim is breached by an answer that is wrong in its own way."""

from __future__ import annotations

import pytest

from testbed.teaching.checking import check
from testbed.teaching.ladder import level_of, wrong_answers

BREACHES = {
    "no_past_holder_binds": (8, "NamesTheRevision"),
    "no_node_has_two_pods": (8, "DecidesBeforeItTouches"),
    "the_most_important_goes_first": (8, "BindsTheOldest"),
    "every_node_gets_a_pod": (8, "EndsWhenItIsRefused"),
    "no_lasso": (9, "CountsTheNodes"),
    "evictions_end": (9, "BacksOff"),
    "duplicates_that_can_move_have_moved": (9, "NeverEvicts"),
    "only_duplicates_are_evicted": (9, "MakesRoom"),
}


FIRST = {
    "ReadsItsTermBefore": (
        8, "three nodes, requests that take their time, and alpha is away for 20 s"
    ),
    "LeavesSomeRoom": (9, "the other node has room for one pod"),
}  # fmt: skip
"""Answers that each hold in all trials of their level before that one."""


@pytest.mark.parametrize("name", FIRST)
def test_that_trial_refuses_an_answer_first(name: str) -> None:
    """It is not there for nothing."""
    number, trial = FIRST[name]
    level = level_of(number)
    (answer,) = [each for each in wrong_answers(level) if each.__name__ == name]
    refused = check(level, answer).refused
    assert refused is not None
    assert refused.name == trial


@pytest.mark.parametrize("claim", BREACHES)
def test_an_answer_is_refused_by_the_claim_that_it_breaches(claim: str) -> None:
    """None of the claims is there for nothing."""
    number, name = BREACHES[claim]
    level = level_of(number)
    (answer,) = [each for each in wrong_answers(level) if each.__name__ == name]
    refused = check(level, answer).refused
    assert refused is not None
    assert refused.claim == claim


def test_a_bind_lands_although_its_sender_is_no_longer_the_holder() -> None:
    """That is the answer to the question of level 8: the bind is not refused."""
    level = level_of(8)
    assert "it lands" in level.guess.choices[level.guess.answer - 1]
    refused = check(level, level.careless).refused
    assert refused is not None
    assert refused.claim == "no_past_holder_binds"


def test_a_pod_that_is_evicted_for_a_full_node_comes_back_for_ever() -> None:
    """That is the answer to the question of level 9: the loop is proved, and needs no race."""
    level = level_of(9)
    assert "for ever" in level.guess.choices[level.guess.answer - 1]
    refused = check(level, level.careless).refused
    assert refused is not None
    assert refused.claim == "no_lasso"
    assert "holds:" not in refused.race
