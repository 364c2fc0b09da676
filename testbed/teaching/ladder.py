"""Ladder: all levels in order, those of the user's own too, and the wrong answers to each."""

from __future__ import annotations

import pkgutil
from collections.abc import Iterator

from testbed.client.actor import Actor
from testbed.errors import UnknownName
from testbed.teaching.level import LearnLevel
from testbed.world.users_code import LEVELS, imported, levels_package

WRONG = f"{LEVELS}.wrong"
NAME = "LEVEL"
"""What the level is called in its file."""


def levels() -> list[LearnLevel]:
    """Every level, by its number."""
    return sorted(_found(), key=lambda level: level.number)


def level_of(number: int) -> LearnLevel:
    """The level of that number; UnknownName if there is none."""
    for level in _found():
        if level.number == number:
            return level
    known = [str(level.number) for level in levels()]
    raise UnknownName("level", str(number), known, see="testbed learn")


def _found() -> Iterator[LearnLevel]:
    """The levels, one file after the other; a file without one is passed over."""
    for info in pkgutil.iter_modules(levels_package().__path__):
        if not info.ispkg and NAME in (there := vars(imported(f"{LEVELS}.{info.name}"))):
            yield there[NAME]


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
