"""PlannedRun, SearchTask and Outcome: plain data, the same after a journey."""

from __future__ import annotations

import pytest

from testbed.choosers.sampling.learned import Profile
from testbed.errors import HarnessBug
from testbed.objects.codec import decode, encode
from testbed.search.planned_run import Breach, Outcome, PlannedRun, SearchTask, as_choices, as_data
from testbed.turns.option import Choice, HoldBack, LetPass, Release


def test_every_kind_of_choice_survives_the_journey() -> None:
    """A Run that was violated elsewhere is played again here, from these alone."""
    choices: list[Choice] = [0, HoldBack(1), HoldBack(0, 500), Release(2), LetPass(3), 7]
    assert as_choices(decode(encode(as_data(choices)))) == choices


def test_what_is_no_choice_is_refused() -> None:
    """It would otherwise play another Run."""
    with pytest.raises(HarnessBug, match="is no choice"):
        as_choices([{"skip": 1}])


def test_a_task_and_a_planned_run_survive_the_journey() -> None:
    """A worker plays just what was asked."""
    task = SearchTask("lost_update", {"guard": "on"}, ("crash",), allows_none=True, folders=("a",))
    assert SearchTask.of(decode(encode(task.as_dict()))) == task
    planned = PlannedRun(3, "bounded", {"plan": [[0, "hold", 0]]})
    assert PlannedRun.of(decode(encode(planned.as_dict()))) == planned


def test_an_outcome_survives_the_journey() -> None:
    """Also the Profile in it, and what was breached."""
    profile = Profile(9, {"alpha": [1, 2]}, {"b": "a"}, {"k": {"a": 1}}, ["x > y"])
    breach = Breach("claim", "said")
    outcome = Outcome(
        4, "pct", "violated", "a breach", 9, 1500, ("crash",), (breach,), (0, {"hold": 1}), profile
    )
    assert Outcome.parse(outcome.line()) == outcome
    assert b"\n" not in outcome.line()
