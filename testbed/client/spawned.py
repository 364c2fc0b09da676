"""Spawned: what begins a task, refused at the line that spawns it if it never can.

A task begins in a later turn, when the line that gave it the wrong function is no longer on the
stack. So all that can be known of the function is looked at when it is given.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Coroutine
from functools import partial
from typing import Any

from testbed.code.takes import wrong_count
from testbed.code.whose import place_of_call
from testbed.errors import ScenarioError, shown
from testbed.turns.life import too_many
from testbed.turns.table import Table
from testbed.turns.waits import Waitable

ASYNC = inspect.CO_COROUTINE
WORD = re.compile(r"[^\s#@*?\[\]]+")
"""What a task may be called: a race file names it so, and has other uses for the rest."""
NEXT = "say client.spawn({0!r}, f, …) with the name of an async function and its arguments"
IN_ONE = "write `async def f(): …` that awaits it, and say client.spawn({0!r}, f)"


def beginning(
    table: Table, name: str, fn: Callable[..., Coroutine[Any, Any, Any]], args: tuple[Any, ...]
) -> Callable[[], Coroutine[Any, Any, Any]]:
    """What begins the task, without arguments. A ScenarioError if it cannot begin one."""
    life = table.caller().life
    if len(life.seats) >= (most := table.head.turns_max):
        raise table.refused(*too_many(life, name, most))
    code = getattr(fn, "__code__", None)
    is_async = code is not None and code.co_flags & ASYNC
    is_named = type(name) is str and WORD.fullmatch(name)
    if is_async and is_named and not wrong_count(fn, len(args)):
        return partial(fn, *args)
    _check(table, name, fn, args)
    place = place_of_call()

    def begin() -> Coroutine[Any, Any, Any]:
        made: object = fn(*args)
        if inspect.iscoroutine(made):
            return made
        error = ScenarioError(
            f"{place}: client.spawn({name!r}, …) was given {_named(fn)}, which gave "
            f"{_what(made)}: expected an async function.\nNext: {IN_ONE.format(name)}."
        )
        table.fail(error)  # before what was made can be forgotten, which would be an error, too
        raise error

    return begin


def _check(table: Table, name: object, fn: object, args: tuple[Any, ...]) -> None:
    """Raise ScenarioError if to call the function with these arguments cannot begin a task."""
    if not isinstance(name, str):
        text = f"client.spawn was given {_what(name)} for the name of a task: expected a text"
        raise table.refused(text, NEXT.format("later"))
    if not WORD.fullmatch(name):
        text = f"client.spawn was given the name {name!r}: expected one word without # @ * ? [ ]"
        raise table.refused(text, NEXT.format("-".join(re.findall(WORD, name)) or "later"))
    said = f"client.spawn({name!r}, …) was given"
    if isinstance(fn, Coroutine | Waitable) or not callable(fn):
        error = table.refused(f"{said} {_what(fn)}: expected an async function", NEXT.format(name))
        if isinstance(fn, Coroutine):
            fn.close()
        raise error
    if wrong := wrong_count(fn, len(args)):
        count = f"{len(args)} argument{'' if len(args) == 1 else 's'}"
        raise table.refused(
            f"{said} {count} for {_named(fn)}: {wrong}",
            "give what it takes behind it; what has a name goes in with functools.partial",
        )


def _what(found: object) -> str:
    """What it is, in the same words in every process."""
    if isinstance(found, Coroutine):
        return "a coroutine, which has been called already"
    if isinstance(found, Waitable):
        return "a wait, which is no task of its own"
    return shown(found)


def _named(fn: object) -> str:
    name = str(getattr(fn, "__qualname__", None) or f"a {type(fn).__name__}")
    return name.rpartition("<locals>.")[2]
