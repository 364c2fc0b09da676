"""Shared: what two actors of a World hold together, and one of them may change.

No footprint names what is in a list that two closures share. So a search that plays one order of
turns which commute, and leaves out the other, may leave out the one that matters. Where such a
thing can be seen, it is found before a search: in fields, closures, defaults, attributes of classes
and functions, partials and containers, and in the globals that their code writes. Nothing is run.

What is neither seen here nor changed by what is seen, such as a global that a called library
fills, is left to the orders that a complete search draws (`search/crossing.py`).
"""

from __future__ import annotations

import dis
import sys
import types
from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from typing import Any, NamedTuple

from testbed.code.changing import CONTAINERS, can_change, fields_of, is_users
from testbed.code.whose import OWN, SHIPPED, whose
from testbed.turns.suspects import closed_over, codes_in, globals_in, instructions

CLEAN = ("testbed.", "actors.")
DEEP_MAX = 5_000
"""The most objects that are looked at for one actor."""
WRITERS = frozenset(
    {
        "append", "appendleft", "extend", "insert", "pop", "popleft", "popitem", "remove", "clear",
        "add", "discard", "update", "setdefault", "sort", "reverse", "rotate",
    }
)  # fmt: skip
"""Methods that change a container."""
WALKED = (tuple, frozenset, list, set, dict, types.MappingProxyType)
LOOKAHEAD = 6
"""How many instructions behind a global a write of one of its items may stand."""


class HeldAt(NamedTuple):
    """Where one party holds something."""

    party: str
    words: str
    writes: bool
    """Whether it is held there in order to be written: a variable that is set, a global."""


class Both(NamedTuple):
    """Something that two parties hold."""

    what: str
    one: HeldAt
    other: HeldAt


def shared(parties: Mapping[str, Iterable[object]]) -> Both | None:
    """The first thing that two of these hold and that can change; None if there is none. Each is
    given with what it begins with: an actor, an Endpoint."""
    met: dict[object, tuple[object, HeldAt]] = {}
    for party, things in parties.items():
        mine: dict[object, tuple[object, HeldAt]] = {}
        for key, what, place in _held(party, things):
            known = mine.get(key)
            if known is None or (place.writes and not known[1].writes):
                mine[key] = what, place
        for key, (what, place) in mine.items():
            if key not in met:
                met[key] = what, place
                continue
            _, first = met[key]
            is_variable = isinstance(key, tuple)
            if not is_variable or place.writes or first.writes:
                return Both(_named(what, is_variable=is_variable), first, place)
    return None


def _named(what: object, *, is_variable: bool) -> str:
    return "a variable" if is_variable else f"a {type(what).__name__}"


def _held(party: str, things: Iterable[object]) -> Iterator[tuple[object, object, HeldAt]]:
    """What can change and is held from there on, each with a key of its own and its place."""
    left = [("it", thing) for thing in things]
    seen: dict[int, object] = {}
    while left and len(seen) < DEEP_MAX:
        words, thing = left.pop(0)
        if id(thing) in seen or isinstance(thing, str | bytes | int | float | None):
            continue
        seen[id(thing)] = thing
        if can_change(thing):
            yield id(thing), thing, HeldAt(party, words, writes=False)
        if isinstance(thing, types.FunctionType):
            if not _is_read(thing):
                continue
            for key, what, where, writes in _variables(thing):
                yield key, what, HeldAt(party, where, writes)
        left += _within(words, thing)


def _is_read(code: types.FunctionType | type) -> bool:
    """Whether it may hold what a user shares. What the actors that come along hold, they hold in
    fields."""
    file = getattr(sys.modules.get(code.__module__), "__file__", None) or ""
    if isinstance(code, types.FunctionType):
        file = code.__code__.co_filename
    return not code.__module__.startswith(CLEAN) and whose(file) in (OWN, SHIPPED)


def _within(words: str, thing: Any) -> list[tuple[str, object]]:
    """What is held by that, each with where it is in words."""
    if isinstance(thing, partial):
        args = [*thing.args, *thing.keywords.values()]
        return [("an argument of a partial", each) for each in args] + [(words, thing.func)]
    if isinstance(thing, types.MethodType):
        return [(words, thing.__self__), (words, thing.__func__)]
    if isinstance(thing, types.FunctionType):
        return _of_function(thing)
    if isinstance(thing, staticmethod | classmethod):
        return [(words, thing.__func__)]
    if isinstance(thing, property):
        return [(words, each) for each in (thing.fget, thing.fset) if each is not None]
    if isinstance(thing, type):
        return _of_class(thing) if _is_read(thing) else []
    if isinstance(thing, WALKED):
        items = [*thing, *thing.values()] if isinstance(thing, Mapping) else list(thing)
        return [(words, each) for each in items]
    kind = type(thing)
    if not (is_users(kind) or isinstance(thing, CONTAINERS)):
        return []
    fields = [(f"the field `{name}` of {kind.__name__}", v) for name, v in fields_of(thing).items()]
    return [(words, kind), *fields]


def _of_function(function: types.FunctionType) -> list[tuple[str, object]]:
    where = _where(function)
    defaults = [*(function.__defaults__ or ()), *(function.__kwdefaults__ or {}).values()]
    held: list[tuple[str, object]] = [(f"a default of {where}", each) for each in defaults]
    held += [(f"`{name}`, which {where} closes over", v) for name, v in closed_over(function)]
    held += [(f"`{name}` of {where}", v) for name, v in vars(function).items()]
    # What is named in its module is followed to functions and classes alone: a list there may be a
    # table that nobody writes.
    named = [v for _, v in globals_in(function) if isinstance(v, types.FunctionType | type)]
    return [*held, *(("it", each) for each in named)]


def _of_class(kind: type) -> list[tuple[str, object]]:
    named = [
        (each, name, value)
        for each in kind.__mro__
        if _is_read(each)
        for name, value in vars(each).items()
        if not name.startswith("__")
    ]
    methods = [value for _, _, value in named if isinstance(value, types.FunctionType)]
    # A dict there may be a table that nobody writes.
    filled = {name for method in methods for name in _filled(method, "LOAD_ATTR")}
    return [
        (f"`{name}` of the class {each.__name__}", value)
        for each, name, value in named
        if name in filled or not isinstance(value, CONTAINERS)
    ]


def _variables(
    function: types.FunctionType,
) -> Iterator[tuple[object, object, str, bool]]:
    """The variables around a function that it uses, each with a key, where, and whether it sets or
    fills it."""
    where, code = _where(function), function.__code__
    stored = {i.argval for c in codes_in(code) for i in instructions(c, "STORE_DEREF")}
    cells = zip(code.co_freevars, function.__closure__ or (), strict=True)
    for name, cell in cells:
        writes = name in stored
        yield ("cell", id(cell)), cell, f"`{name}`, which {where} closes over", writes
    written = set(_written(function))
    for name in sorted({*written, *(name for name, _ in globals_in(function))}):
        words = f"the global {name}, which {where} {'writes' if name in written else 'uses'}"
        yield ("global", id(function.__globals__), name), function, words, name in written


def _written(function: types.FunctionType) -> Iterator[str]:
    """The globals that its code sets, or changes as containers."""
    for code in codes_in(function.__code__):
        for name in ("STORE_GLOBAL", "DELETE_GLOBAL"):
            yield from (one.argval for one in instructions(code, name))
    held = {name for name, value in globals_in(function) if isinstance(value, CONTAINERS)}
    yield from (name for name in _filled(function, "LOAD_GLOBAL") if name in held)


def _filled(function: types.FunctionType, loaded: str) -> Iterator[str]:
    """The names that its code loads so and then writes as containers."""
    for code in codes_in(function.__code__):
        found = list(dis.get_instructions(code))
        for at, one in enumerate(found):
            if one.opname == loaded and _is_filled(found[at + 1 : at + 1 + LOOKAHEAD]):
                yield one.argval


def _is_filled(behind: list[dis.Instruction]) -> bool:
    """Whether what was just put on the stack is written by one of these instructions: by a method,
    or at an index, also by `+=`, which copies both before it reads."""
    if behind and behind[0].opname in ("LOAD_ATTR", "LOAD_METHOD"):
        return behind[0].argval in WRITERS
    is_copied = False
    for one in behind:
        is_copied = is_copied or one.opname == "COPY"
        if one.opname in ("STORE_SUBSCR", "DELETE_SUBSCR"):
            return True
        if one.opname in ("BINARY_SUBSCR", "BINARY_OP"):
            return is_copied
    return False


def _where(function: types.FunctionType) -> str:
    code = function.__code__
    return f"{function.__name__} ({code.co_filename.rpartition('/')[2]}:{code.co_firstlineno})"
