"""Intact: whether the testbed is still what it was before an answer ran.

Nothing keeps Python code from replacing a function of ours, such as the one that says whether a
claim holds. So all that our modules hold by name is remembered, with what stands in each class and
the code of each function, and is compared afterwards. What an answer has put back before that does
not show.
"""

from __future__ import annotations

import builtins
import sys
from collections.abc import Callable, Iterator
from types import FunctionType, ModuleType
from typing import Any

OURS = ("testbed", "actors", "scenarios", "__main__")
CHANGING = ("__warningregistry__", "__builtins__")
"""What Python itself sets in a module."""
COUNTS = (bool, int, float, type(None))
"""What a module of ours may count in by a name in small letters."""
_Held = tuple[Any, str, Any, Any]
"""Where it stands, its name there, what it is, and its code if it has any."""


def remembered() -> Callable[[], str]:
    """Remember what our modules hold now. The function that is returned says what has become
    another since, such as `testbed.words.counted`; empty if nothing has."""
    ours = [module for name, module in sorted(sys.modules.items()) if _is_ours(name, module)]
    before = list(_held([*ours, builtins]))
    absent, kind_of, function = object(), type, FunctionType

    def changed() -> str:
        for where, name, value, code in before:
            now = where.get(name, absent)
            if now is not value or (kind_of(now) is function and now.__code__ is not code):
                return f"{where.get('__module__') or where.get('__name__')}.{name}"
        return ""

    return changed


def _is_ours(name: str, module: ModuleType) -> bool:
    return name.partition(".")[0] in OURS and isinstance(module, ModuleType)


def _held(modules: list[ModuleType]) -> Iterator[_Held]:
    for module in modules:
        yield from _standing_in(vars(module))
        for value in list(vars(module).values()):
            if isinstance(value, type) and value.__module__ == module.__name__:
                yield from _standing_in(vars(value))


def _standing_in(where: Any) -> Iterator[_Held]:
    for name, value in list(where.items()):
        is_count = isinstance(value, COUNTS) and not name.isupper()
        if name not in CHANGING and not is_count:
            yield where, name, value, getattr(value, "__code__", None)
