"""Ladder: all levels in order, those of the user's own too, and the wrong answers to each."""

from __future__ import annotations

import pkgutil
from collections.abc import Iterator
from itertools import pairwise

from testbed.client.actor import Actor
from testbed.errors import HarnessError, ScenarioError, UnknownName
from testbed.teaching.level import LearnLevel
from testbed.world.scenario import find
from testbed.world.users_code import LEVELS, imported, levels_package

WRONG = f"{LEVELS}.wrong"
NAME = "LEVEL"
"""What the level is called in its file."""


def levels() -> list[LearnLevel]:
    """Every level, by its number; ScenarioError if two have the same one."""
    found = sorted(_found(), key=lambda level: level.number)
    for one, other in pairwise(found):
        if one.number == other.number:
            raise ScenarioError(
                f"{one.name}.py and {other.name}.py are both level {one.number}.\n"
                "Next: give one of them another number."
            )
    return found


def level_of(number: int) -> LearnLevel:
    """The level of that number, of which each trial can be played; UnknownName if there is none."""
    known = {level.number: level for level in levels()}
    if number not in known:
        raise UnknownName("level", str(number), [*map(str, known)], see="testbed learn")
    level = known[number]
    recipe = find(level.name)
    if recipe.build is not level.build:
        raise ScenarioError(
            f"{level.name}.py: there is another scenario that is called {level.name}, and it is "
            "found by that name.\nNext: call the level and its file otherwise."
        )
    for trial in level.trials:
        given = {**(level.drawn(0) if trial.is_varied else {}), **trial.switches}
        try:
            recipe.check(given)
        except HarnessError as error:
            raise ScenarioError(f"{level.name}.py, trial {trial.name!r}: {error}") from error
    return level


def _found() -> Iterator[LearnLevel]:
    """The levels, one file after the other; ScenarioError if a file has none."""
    for info in pkgutil.iter_modules(levels_package().__path__):
        if not info.ispkg:
            level = vars(imported(f"{LEVELS}.{info.name}")).get(NAME)
            if not isinstance(level, LearnLevel):
                raise ScenarioError(
                    f"{info.name}.py: no level stands in it.\n"
                    f"Next: end it with {NAME} = LearnLevel(…), or put it into another folder."
                )
            if level.name != info.name:
                raise ScenarioError(
                    f"{info.name}.py: its scenario is called {level.name}, and is found by the "
                    f"name of its file.\nNext: call the file {level.name}.py."
                )
            yield level


def wrong_answers(level: LearnLevel) -> list[type[Actor]]:
    """The plausible wrong answers to that level, in the order in which they are written: in a file
    of their own, or in that of the level. A check that did not refuse each of them would prove
    nothing."""
    names = [info.name for info in pkgutil.iter_modules(imported(WRONG).__path__)]
    module = imported(f"{WRONG}.{level.name}" if level.name in names else level.build.__module__)
    return [
        each
        for each in vars(module).values()
        if isinstance(each, type) and issubclass(each, level.base)
        and each.__module__ == module.__name__ and not each.__name__.startswith("_")
        and each not in (level.base, level.careless)
    ]  # fmt: skip
