"""The Player: a Run is a function of its PlannedRun, and of what was learned before its round."""

from __future__ import annotations

import pytest

from testbed.choosers.sampling.learned import Learned
from testbed.errors import UnknownName
from testbed.search.planned_run import Outcome, PlannedRun, SearchTask
from testbed.search.player import Player
from testbed.turns.option import Choice
from tests.each_row import each_row
from tests.shared.planned_runs import CHOOSERS, planned_runs


@each_row("name", CHOOSERS)
def test_a_run_does_not_depend_on_what_its_player_played_before(name: str) -> None:
    """Whoever plays it, and after what: the same Outcome, to the byte."""
    task = SearchTask("double_bind", faults=("crash",))
    player = Player(task)
    first = [player.play(PlannedRun(run, name)).line() for run in range(4)]
    assert [Player(task).play(PlannedRun(run, name)).line() for run in (3, 1)] == [
        first[3],
        first[1],
    ]


def test_a_run_depends_on_what_was_learnt() -> None:
    """What earlier rounds have shown reaches the samplers; so they are told, and use it."""
    naive, taught = Player(SearchTask("double_bind")), Player(SearchTask("double_bind"))
    outcomes = [naive.play(PlannedRun(run, "urw")) for run in range(6)]
    learned = Learned()
    for outcome in outcomes:
        learned.add(outcome.profile)
    taught.learn(learned.as_dict())
    again = [taught.play(PlannedRun(run, "urw")) for run in range(6)]
    assert [o.profile for o in again] != [o.profile for o in outcomes]


def test_a_sampler_learns_nothing_by_itself() -> None:
    """Else a Run would depend on which Runs the same process has played."""
    player = Player(SearchTask("double_bind"))
    for run in range(5):
        player.play(PlannedRun(run, "pct"))
    assert player.learned.runs == 0


def test_every_chooser_gives_a_profile() -> None:
    """Also one that keeps none for itself: coverage is of all Runs."""
    player = Player(SearchTask("double_bind"))
    for planned in planned_runs(5):
        assert player.play(planned).profile.pairs


def struck(task: SearchTask, runs: int = 12) -> set[str]:
    """The faults that struck in so many Runs."""
    player = Player(task)
    return {
        fault for run in range(runs) for fault in player.play(PlannedRun(run, "uniform")).faults
    }


def test_faults_strike_as_the_task_allows() -> None:
    """Those of the Task, beside the scenario's own; or none at all."""
    assert struck(SearchTask("double_bind")) == set()
    assert struck(SearchTask("double_bind", faults=("crash", "lose_reply"))) == {
        "crash",
        "lose_reply",
    }
    assert struck(SearchTask("double_bind", faults=("crash",), allows_none=True)) == set()


def test_the_choices_of_a_violated_run_are_kept() -> None:
    """And only those: of a Run that held, nobody asks."""
    player = Player(SearchTask("double_bind"))
    outcomes: list[Outcome] = [player.play(planned) for planned in planned_runs(30)]
    assert {outcome.verdict for outcome in outcomes} == {"held", "violated"}
    for outcome in outcomes:
        assert bool(outcome.choices) == outcome.is_violated == bool(outcome.breaches)
    kept: list[Choice] = list(outcomes[0].choices)
    assert all(isinstance(choice, int | dict) for choice in kept)


def test_a_chooser_nobody_knows_is_refused() -> None:
    """With those that are known."""
    with pytest.raises(UnknownName, match="chooser 'pcd'"):
        Player(SearchTask("double_bind")).play(PlannedRun(0, "pcd"))
