"""Decoded: a value again, from the tree that `encode` has written of it.

`codec.encode` writes the fields of a class under their own names, and says nothing of the class; so
what reads it back has to know that. This is not the form of the wire, which `form.py` reads.
"""

from __future__ import annotations

import types
from collections.abc import Callable
from functools import cache
from typing import Any, TypeVar, get_args, get_origin, get_type_hints

import attrs

from testbed.objects.meta import Map, Revision
from testbed.objects.plain import frozen

T = TypeVar("T")
Reader = Callable[[Any], Any]


def decoded(cls: type[T], tree: Any) -> T:
    """The value of a class of attrs; KeyError, TypeError or ValueError if it is none."""
    hint: Any = cls
    made: T = _reader(hint)(tree)
    return made


@cache
def _reader(hint: Any) -> Reader:
    """What reads a value of that type."""
    if hint is Any:
        return lambda tree: frozen(tree, nulls=True)
    if hint is Revision:
        return Revision
    origin, inner = get_origin(hint), get_args(hint)
    if origin is types.UnionType:
        return _optional([each for each in inner if each is not types.NoneType])
    if origin is tuple:
        return _tuple_of(inner)
    if origin is Map:
        return _map_of(_reader(inner[0]))
    return _class_of(hint) if attrs.has(hint) else lambda tree: tree


def _optional(kinds: list[Any]) -> Reader:
    """What reads None, or a value of the one class; of several plain types, any is as it is."""
    if len(kinds) > 1:
        return lambda tree: tree
    read = _reader(kinds[0])
    return lambda tree: None if tree is None else read(tree)


def _tuple_of(inner: tuple[Any, ...]) -> Reader:
    if inner[1:] == (...,):
        read = _reader(inner[0])
        return lambda tree: tuple([read(each) for each in tree])
    reads = [_reader(each) for each in inner]
    return lambda tree: tuple([read(each) for read, each in zip(reads, tree, strict=True)])


def _map_of(read: Reader) -> Reader:
    return lambda tree: Map({name: read(each) for name, each in tree.items()})


def _class_of(cls: type[Any]) -> Reader:
    hints = get_type_hints(cls)
    reads = {each.name: _reader(hints[each.name]) for each in attrs.fields(cls) if each.init}
    return lambda tree: cls(**{name: read(tree[name]) for name, read in reads.items()})
