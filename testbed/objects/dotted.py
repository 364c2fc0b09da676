"""The fields of a kind, by the dotted paths that claims, caches and selectors name them by."""

from __future__ import annotations

import typing
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import Any

import attrs


def has_field(kind: Any, path: str) -> bool:
    """Whether a kind of object has the field of that dotted path."""
    return _known(kind, path)


@cache
def _known(kind: Any, path: str) -> bool:
    return _has(kind, path.split("."))


def _types(kind: Any) -> list[Any]:
    """The classes with fields that a type is made of: itself, or what it holds."""
    origin = typing.get_origin(kind) or kind
    if attrs.has(origin):
        return [origin]
    return [found for each in typing.get_args(kind) for found in _types(each)]


def fields_below(kind: Any, parts: Sequence[str]) -> Iterator[str]:
    """The names of the fields under that path of a type."""
    for found in _types(kind):
        hints = _hints(found)
        for field in attrs.fields(found):
            if not parts and field.init:
                yield field.name
            elif parts and field.name == parts[0]:
                yield from fields_below(hints.get(field.name, Any), parts[1:])


def fields_within(kind: Any, start: str = "", deep: int = 4) -> Iterator[str]:
    """The dotted paths of all fields of a type, some levels deep."""
    for found in _types(kind) if deep else ():
        hints = _hints(found)
        for field in attrs.fields(found):
            if field.init:
                yield f"{start}{field.name}"
                yield from fields_within(
                    hints.get(field.name, Any), f"{start}{field.name}.", deep - 1
                )


def _hints(kind: Any) -> dict[str, Any]:
    try:
        return typing.get_type_hints(kind)
    except NameError:
        return {}


def _has(kind: Any, parts: Sequence[str]) -> bool:
    """Whether a type has that field; a Map has any, and of a list the items count."""
    if not parts or kind is Any:
        return True
    origin = typing.get_origin(kind) or kind
    if isinstance(origin, type) and issubclass(origin, Mapping):
        return True
    if not attrs.has(origin):
        return any(_has(each, parts) for each in typing.get_args(kind) if each is not type(None))
    try:
        hints = typing.get_type_hints(origin)
    except NameError:
        return True
    names = {field.name for field in attrs.fields(origin)}
    return parts[0] in names and _has(hints.get(parts[0], Any), parts[1:])
