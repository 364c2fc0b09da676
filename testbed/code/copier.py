"""Copier: makes copies of frozen values, with some fields changed, at the cost of mutable ones."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from operator import attrgetter
from typing import Any, NoReturn

import attrs

from testbed.code.twin import open_twin

Copier = Callable[[Any, dict[str, Any]], Any]
"""From an instance and the changes of its fields, by name, to the copy."""
_names: dict[type, tuple[str, ...]] = {}


def names_of(kind: type) -> tuple[str, ...]:
    """The names of the fields of a class, in order."""
    names = _names.get(kind)
    if names is None:
        names = _names[kind] = tuple(field.name for field in attrs.fields(kind))
    return names


def values_of(names: Sequence[str]) -> Callable[[Any], tuple[Any, ...]]:
    """Return a function from an object to its attributes of these names: one call for all."""
    if len(names) > 1:
        return attrgetter(*names)
    return lambda value: tuple([getattr(value, name) for name in names])


class _Copiers(dict[type, Copier]):
    def __missing__(self, kind: type) -> Copier:
        copy = self[kind] = _made(kind)
        return copy


COPIERS = _Copiers()
"""By class what copies an instance of it; a TypeError of that if there is no such field."""


def _made(kind: type) -> Copier:
    # The code is made field by field, as attrs makes its `__init__`; the copy is made as an
    # instance of the open twin.
    names = names_of(kind)

    def unknown(changes: dict[str, Any]) -> NoReturn:
        name = next(name for name in changes if name not in names)
        raise TypeError(f"a {kind.__name__} has no {name}; it has {', '.join(names)}")

    known: dict[str, Any] = {
        "blank": object.__new__, "twin": open_twin(kind), "kind": kind, "names": frozenset(names),
        "set_": object.__setattr__, "unknown": unknown,
    }  # fmt: skip
    lines = (
        "def copy(value, changes):",
        "    if not changes.keys() <= names:",
        "        unknown(changes)",
        "    new = blank(twin)",
        *(f"    new.{name} = value.{name}" for name in names),
        "    for name, change in changes.items():",
        "        set_(new, name, change)",
        "    new.__class__ = kind",
        "    return new",
    )
    exec(compile("\n".join(lines), f"<attrs copier {kind.__qualname__}>", "exec"), known)
    copy: Copier = known["copy"]
    return copy
