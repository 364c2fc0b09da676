"""Told: how the story of each World begins, judged by the truth that its author wrote down.

What is not told truly yet is expected to fail, with the sentence that it says: when it is mended,
the mark has to go.
"""

from __future__ import annotations

import pkgutil
from functools import cache
from importlib import import_module

import attrs
import pytest

from tests.each_row import each_row
from tests.told import incidents, later, scheduling, strangers
from tests.told.frame import Opening, Told, faults_of, has_guard, opening, played_race
from tests.told.later import exercises
from tests.told.never_rest import ALSO, TWELVE
from tests.told.today import TODAY

WORLDS = [
    import_module(f"{package.__name__}.{module.name}")
    for package in (strangers, scheduling, incidents, later, exercises)
    for module in pkgutil.iter_modules(package.__path__)
    if not module.ispkg
]
OTHERS = [told for world in WORLDS for told in getattr(world, "ALSO", ())]
"""Other races of the same Worlds."""
ALL = {told.name: told for told in (*TWELVE, *(world.TRUE for world in WORLDS), *OTHERS, *ALSO)}


@cache
def begins(name: str) -> Opening:
    """How the story of that World begins."""
    return opening(ALL[name])


def names(*, marked: bool) -> list[object]:
    """Each World; if `marked`, one that is not told truly yet is expected to fail."""
    return [
        pytest.param(
            name,
            marks=[pytest.mark.xfail(raises=AssertionError, strict=True, reason=TODAY[name])]
            if marked and name in TODAY
            else [],
        )
        for name in ALL
    ]


@pytest.mark.parametrize("name", names(marked=True))
def test_the_story_begins_truly(name: str) -> None:
    """It names the decider, the object and the reason, accuses nobody else, and is short."""
    found = begins(name)
    assert not faults_of(ALL[name], found), found.said


@each_row("told", ALL.values(), ids=ALL)
def test_what_its_author_would_say_is_true(told: Told) -> None:
    """The race is one, and there is a sentence that would do: the judge asks for no riddle."""
    found = begins(told.name)
    found = attrs.evolve(found, said=told.said, setting="", columns=" ".join(found.actors))
    assert not faults_of(told, found), told.said


@each_row("told", ALL.values(), ids=ALL)
def test_the_judge_refuses_what_is_not_so(told: Told) -> None:
    """A sentence that accuses another actor first, one that gives no reason, one that is too long,
    and a story in which the decider has no column."""
    found = begins(told.name)
    true = attrs.evolve(found, said=told.said, setting="", columns=" ".join(found.actors))
    deciders = {told.actor} if isinstance(told.actor, str) else {*told.actor}
    for other in sorted(found.actors - deciders):
        assert faults_of(told, attrs.evolve(true, said=f"{other} was late. {told.said}"))
    for said in (f"{min(deciders)} broke it.", " ".join([told.said, *["indeed"] * 40])):
        assert faults_of(told, attrs.evolve(true, said=said))
    assert faults_of(told, attrs.evolve(true, columns="step ms"))


@each_row("told", ALL.values(), ids=ALL)
def test_the_guard_holds(told: Told) -> None:
    """With the guard on, if there is one, the same race breaks nothing: that side is a twin."""
    if has_guard(told):
        assert not played_race(told, guard="on").verdict.is_violated


def test_only_known_worlds_are_expected_to_fail() -> None:
    """A mark whose World is gone or was renamed would hide nothing."""
    assert TODAY.keys() <= ALL.keys()
