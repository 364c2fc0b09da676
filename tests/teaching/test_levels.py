"""Every level: its wrong answers are refused, its right ones pass, and it says what it means."""

from __future__ import annotations

import inspect
import re
from functools import cache
from importlib import import_module
from pathlib import Path

import pytest
from _pytest.mark import ParameterSet

from scenarios.levels.lost_count import lost_count
from testbed.choosers.complete import Complete
from testbed.client.actor import Actor
from testbed.objects import Note
from testbed.races.expecting import both_sides
from testbed.races.racefile import parse
from testbed.teaching.answer import answering
from testbed.teaching.checked import NOT_PLAYED, REFUSED, TriedTrial
from testbed.teaching.checking import careless_race, check
from testbed.teaching.ladder import level_of, levels, wrong_answers
from testbed.teaching.level import LearnLevel
from testbed.teaching.looks import EveryOrder
from testbed.world.scenario import find, known, play_runs
from testbed.world.world import World
from tests.each_row import each_row

LEVELS = levels()
WRONG_MIN, RIGHT_MIN = 12, 3


def right_answers(level: LearnLevel) -> list[type[Actor]]:
    """The right answers to that level, in the order of their file; none if there is no file."""
    if not Path(__file__).with_name("right").joinpath(f"{level.name}.py").exists():
        return []
    module = import_module(f"tests.teaching.right.{level.name}")
    made = [each for each in vars(module).values() if isinstance(each, type)]
    return [c for c in made if issubclass(c, level.base) and c.__module__ == module.__name__]


def named(level: LearnLevel) -> str:
    """How pytest calls its tests."""
    return level.name


RIGHT = [(level, each) for level in LEVELS for each in right_answers(level)]
WRONG = [(level, each) for level in LEVELS for each in wrong_answers(level)]


CUT = {
    "late_echo": (
        "one pod, and the controller crashes and is back at once", "other names and numbers"
    ),
    "half_moved": ("other names and places",),
}  # fmt: skip
"""By level, the trials whose search for every order may be cut. For the first right answer each
other search comes to its end."""
EVERY = 9
"""Of the wrong answers to a level every ninth is checked in the usual run, and of the right ones
the first; `-m long` checks all others."""


def params(pairs: list[tuple[LearnLevel, type[Actor]]], every: int) -> list[ParameterSet]:
    """These answers, each with its name; all but every so-many-th of a level are left for long."""
    found = []
    for level, each in pairs:
        nth = [one for of, one in pairs if of is level].index(each)
        marks = () if nth % every == 0 else (pytest.mark.long,)
        found.append(pytest.param(level, each, id=f"{level.name}-{each.__name__}", marks=marks))
    return found


@cache
def careless_of(name: str) -> TriedTrial:
    """The race of the careless program of that level, worked out once."""
    return careless_race(next(level for level in LEVELS if level.name == name))


def test_levels_are_numbered_from_one_and_are_no_page_of_the_shelf() -> None:
    """Each is found by its name, as any scenario is."""
    numbers = [level.number for level in LEVELS]
    assert len({*numbers}) == len(numbers)
    assert numbers[0] == 1
    shelved = [scenario.name for scenario in known()]
    for level in LEVELS:
        assert find(level.name).build is level.build
        assert level.name not in shelved


def test_answers_of_different_levels_have_different_names() -> None:
    """Switches name them, so one process can know all of them."""
    names = [each.__name__ for _, each in [*RIGHT, *WRONG]]
    assert sorted(names) == sorted({*names})


@each_row("level", LEVELS, ids=named)
def test_a_level_has_enough_answers_to_be_checked_by(level: LearnLevel) -> None:
    """A check that never refused, or never passed, would prove nothing."""
    assert len(wrong_answers(level)) >= WRONG_MIN
    assert len(right_answers(level)) >= RIGHT_MIN
    assert any(trial.is_varied for trial in level.trials)


@pytest.mark.parametrize(("level", "answer"), params(WRONG, EVERY))
def test_a_wrong_answer_is_refused_with_a_race_and_a_story(
    level: LearnLevel, answer: type[Actor]
) -> None:
    """The race file does what it expects when it is played again."""
    with answering(level, answer):
        checked = check(level, answer)
        assert not checked.passed
        refused = checked.refused
        assert refused is not None
        assert refused.claim, refused.said
        assert refused.story.count("\n") > 3
        race = parse(refused.race, "refused")
        (side,) = both_sides(race, find(level.name), "refused")
        assert side.is_met, side.played.verdict


@pytest.mark.parametrize(("level", "answer"), params(RIGHT, len(RIGHT)))
def test_a_right_answer_passes(level: LearnLevel, answer: type[Actor]) -> None:
    """Each under a seed of its own; every order is tried where it should be."""
    checked = check(level, answer, seed=RIGHT.index((level, answer)) % 5)
    assert checked.passed, checked.refused
    assert all(tried.looked for tried in checked.trials)
    if answer is right_answers(level)[0]:
        found = zip(level.trials, checked.trials, strict=True)
        orders = [tried for trial, tried in found if isinstance(trial.look, EveryOrder)]
        cut = {tried.name for tried in orders if not tried.looked.startswith("complete: ")}
        assert cut <= {*CUT.get(level.name, ())}
        assert len(cut) < len(orders) or not orders


@pytest.mark.parametrize("level", LEVELS, ids=named)
def test_the_file_that_is_handed_out_is_refused_as_the_careless_program_is(
    level: LearnLevel, tmp_path: Path
) -> None:
    """It is the same code, so it has the same race but for the name of the class."""
    file = tmp_path / level.file
    file.write_text(level.starter(), encoding="utf-8")
    handed_out, careless = check(level, file).refused, careless_of(level.name)
    assert handed_out is not None
    assert handed_out.claim == careless.claim
    assert handed_out.race.replace(level.answers_class, "built_in") == careless.race
    run = inspect.getsource(level.careless.run).splitlines()
    assert len(run) <= 30
    assert all(len(line) <= 100 for line in level.starter().splitlines())


# -- texts ----------------------------------------------------------------------------------------

TECHNICAL = {
    "afterimage", "bookmark", "cache", "compacted", "compaction", "conflict", "echo", "expired",
    "fault", "graceful", "hold", "idempotent", "informer", "lease", "nominate", "nomination",
    "overcommit", "preemption", "preemptor", "quiescent", "reconcile", "relist", "requeue",
    "resync", "revision", "stale", "unavailable", "victim", "watch",
}  # fmt: skip
"""Words of the trade. A level that says one explains it."""


@each_row("level", LEVELS, ids=named)
def test_the_words_of_its_texts_are_in_its_list(level: LearnLevel) -> None:
    """So a student who knows the list can read each sentence."""
    said = " ".join(
        (level.concept, level.asked, level.calls, level.guess.question, *level.guess.choices,
         level.guess.why, *level.hints)
    )  # fmt: skip
    spoken = {*re.findall(r"[a-z]+", said.lower())}
    unexplained = sorted(spoken.intersection(TECHNICAL) - level.spoken())
    assert unexplained == []


@pytest.mark.parametrize("level", LEVELS, ids=named)
def test_a_refusal_is_told_in_few_other_words(level: LearnLevel) -> None:
    """Of the sentences of the race of its careless program, hardly a word of the trade is new."""
    told = re.sub(r"(?m)^.*[│●┊✗○◌].*$", "", careless_of(level.name).story)
    spoken = {*re.findall(r"[a-z]+", told.lower())}
    assert len(spoken.intersection(TECHNICAL) - level.spoken()) <= 1


@each_row("level", LEVELS, ids=named)
def test_its_question_has_an_answer_and_its_incident_a_link(level: LearnLevel) -> None:
    """What a person may look up is there."""
    assert 1 <= level.guess.answer <= len(level.guess.choices)
    assert level.incident.link.startswith("https://")
    assert len({*level.hints}) == len(level.hints)


def test_the_question_of_level_1_has_that_answer() -> None:
    """Every order of two careless clerks is played: 9, 10 and 11 come out, and nothing else."""
    counts = set()

    def look(world: World) -> bool:
        entry = world.store.peek("notes/default/stock")
        assert entry is not None
        assert isinstance(entry.value, Note)
        counts.add(int(entry.value.data["count"]))
        return True

    chooser = Complete(keeps=False)
    play_runs(find(lost_count.__name__), chooser, look, runs_max=2_000, driver="direct")
    assert chooser.is_complete
    assert sorted(counts) == [9, 10, 11]
    level = level_of(1)
    assert level.guess.choices[level.guess.answer - 1] == "9, 10 or 11"


def test_a_check_stops_at_the_first_trial_that_is_refused() -> None:
    """A student mends one thing at a time, and a class is marked sooner."""
    level = level_of(1)
    outcomes = [trial.outcome for trial in check(level, wrong_answers(level)[0]).trials]
    assert outcomes[0] == REFUSED
    assert {*outcomes[1:]} == {NOT_PLAYED}
