"""Suspects: what the code of an actor or an Endpoint keeps or looks at outside its World.

A Run that differs from another with the same choices was decided by such a thing. The code is only
read, never run: a suspect may be innocent, and what is not found may still be there.
"""

from __future__ import annotations

import dis
import inspect
import types
from collections.abc import Iterable, Iterator
from functools import partial
from typing import Any

import attrs

SHOWN_MAX = 3
DEEP_MAX = 200
"""The most functions that are read."""
OURS = ("testbed.", "attrs", "attr.", "builtins", "typing", "msgspec")
DECIDERS = {
    "time": "the clock (`time`)",
    "datetime": "the clock (`datetime`)",
    "random": "`random`",
    "secrets": "`secrets`",
    "uuid": "`uuid`",
    "os": "the environment (`os`)",
    "socket": "the network (`socket`)",
    "threading": "`threading`",
}
BUILT_IN = {
    "id": "an `id()`",
    "hash": "a `hash()`",
    "set": "the order of a set",
    "frozenset": "the order of a set",
    "open": "a file (`open`)",
    "globals": "`globals()`",
}
ANNOTATE = "__annotate__"
"""What Python 3.14 calls the functions that it makes of annotations; nobody calls one in a Run."""
PLAIN = (str, bytes, int, float, bool, tuple, frozenset, type(None), type, types.ModuleType)


def suspects_of(things: Iterable[Any]) -> list[str]:
    """The most likely first, in words: `the global COUNT, which run (mine.py:12) writes`."""
    graded: dict[str, int] = {}
    for function in _functions(things):
        for grade, text in _in_function(function):
            graded[text] = min(graded.get(text, grade), grade)
    return sorted(graded, key=graded.__getitem__)[:SHOWN_MAX]


def _functions(things: Iterable[Any]) -> Iterator[types.FunctionType]:
    """The functions that these objects bring with them, and those of their modules they name."""
    left: list[Any] = list(things)
    seen: list[Any] = []
    while left and len(seen) < DEEP_MAX:
        thing = left.pop(0)
        if isinstance(thing, partial):
            left += [thing.func, *thing.args]
        elif isinstance(thing, types.MethodType):
            left += [thing.__func__]
        elif not isinstance(thing, types.FunctionType):
            left += _held(thing)
        elif not any(thing is one for one in seen):
            seen.append(thing)
            code = thing.__code__
            is_written = not code.co_filename.startswith("<") and code.co_name != ANNOTATE
            if is_written and not is_ours(thing.__module__):
                yield thing
                left += [f for _, f in globals_in(thing) if isinstance(f, types.FunctionType)]
                left += [f for _, f in closed_over(thing) if isinstance(f, types.FunctionType)]


def _held(thing: Any) -> list[Any]:
    """The methods of the user's own classes, and what the object holds that can be called."""
    kind = type(thing)
    if isinstance(thing, PLAIN) or is_ours(kind.__module__):
        return []
    methods = [
        value
        for each in kind.__mro__
        if not is_ours(each.__module__)
        for value in vars(each).values()
        if isinstance(value, types.FunctionType)
    ]
    names = [*getattr(thing, "__dict__", {}), *(n for c in kind.__mro__ for n in slots_of(c))]
    values = [inspect.getattr_static(thing, name, None) for name in names]
    fields = [getattr(thing, name, None) for name in names] if values else []
    callables = (types.FunctionType, types.MethodType, partial)
    return [*methods, *(field for field in fields if isinstance(field, callables))]


def slots_of(kind: type) -> tuple[str, ...]:
    """The slots that a class declares itself."""
    slots = vars(kind).get("__slots__", ())
    return (slots,) if isinstance(slots, str) else tuple(slots)


def is_ours(module: str | None) -> bool:
    """Whether a module is the testbed's, or one that all code is made of."""
    return module is None or f"{module}.".startswith(OURS)


def _in_function(function: types.FunctionType) -> Iterator[tuple[int, str]]:
    """What it keeps or looks at, each with a grade: 0 is what it surely changes."""
    code = function.__code__
    where = f"{function.__name__} ({code.co_filename.rpartition('/')[2]}:{code.co_firstlineno})"
    stored = {i.argval for c in codes_in(code) for i in instructions(c, "STORE_GLOBAL")}
    for name in sorted(stored):
        yield 0, f"the global {name}, which {where} writes"
    for value in (*(function.__defaults__ or ()), *(function.__kwdefaults__ or {}).values()):
        if not _is_fixed(value):
            yield 1, f"a default that {where} shares between its calls"
    for name, value in closed_over(function):
        if not _is_fixed(value):
            yield 1, f"`{name}`, which {where} closes over"
    for name, value in globals_in(function):
        if isinstance(value, types.ModuleType):
            word = DECIDERS.get(value.__name__.partition(".")[0])
            if word:
                yield 1, f"{word}, in {where}"
        elif getattr(value, "__module__", None) in DECIDERS:
            yield 1, f"{DECIDERS[value.__module__]}, in {where}"
        elif name not in stored and not _is_fixed(value):
            yield 1, f"the global {name}, which {where} uses"
    builtins = {i.argval for c in codes_in(code) for i in instructions(c, "LOAD_GLOBAL")}
    for name in sorted(builtins & BUILT_IN.keys()):
        if name not in function.__globals__:
            yield 2, f"{BUILT_IN[name]}, in {where}"
    if any(i for c in codes_in(code) for i in instructions(c, "BUILD_SET")):
        yield 2, f"{BUILT_IN['set']}, in {where}"


def instructions(code: types.CodeType, name: str) -> Iterator[dis.Instruction]:
    """Its instructions of that name."""
    return (each for each in dis.get_instructions(code) if each.opname == name)


def codes_in(code: types.CodeType) -> Iterator[types.CodeType]:
    """It and all that is written within it."""
    yield code
    for inner in code.co_consts:
        if isinstance(inner, types.CodeType) and inner.co_name != ANNOTATE:
            yield from codes_in(inner)


def globals_in(function: types.FunctionType) -> list[tuple[str, Any]]:
    """The globals of its module that it names, each with its value."""
    names = {i.argval for c in codes_in(function.__code__) for i in instructions(c, "LOAD_GLOBAL")}
    space = function.__globals__
    return [(name, space[name]) for name in sorted(names) if name in space]


def closed_over(function: types.FunctionType) -> list[tuple[str, Any]]:
    """What it closes over, each with its value."""
    found = []
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
        try:
            found.append((name, cell.cell_contents))
        except ValueError:
            continue
    return found


def _is_fixed(value: Any) -> bool:
    """Whether it cannot have changed: plain data, a function, a class, frozen data."""
    if isinstance(value, PLAIN) or callable(value):
        return True
    return attrs.has(kind := type(value)) and kind.__setattr__ is not object.__setattr__
