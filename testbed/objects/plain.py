"""Plain trees: frozen JSON values; and Misfit, the error for a value of the wrong type."""

from __future__ import annotations

from collections.abc import Mapping
from math import isfinite
from typing import Any

from testbed.objects.meta import Map, Revision

MAPPING, LIST, JSON = "a mapping", "a list", "what JSON can say"
PRECONDITION = "metadata.resourceVersion"
"""Where a patch names the revision that it was made from."""
DEPTH_MAX = 64
"""How deep a tree of unknown fields may be."""
Tree = Any
"""A JSON value. In a frozen one, mappings are Maps and lists are tuples."""


class Misfit(ValueError):
    """A value of the wrong type for its field: its path, and what was expected."""

    def __init__(self, path: str, expected: str, found: object) -> None:
        super().__init__(path, expected, found)
        self.path = path
        """In the names of a manifest: `spec.containers[0].name`."""
        self.expected = expected
        self.found = found

    def __str__(self) -> str:
        return f"{self.path or 'the object'}: expected {self.expected}, found {shown(self.found)}"


def frozen(tree: Tree, path: str = "", deep: int = DEPTH_MAX, *, nulls: bool = False) -> Tree:
    """A frozen copy of a tree; Misfit if it is not JSON. A name with a null is dropped, unless
    `nulls` are kept. A Revision in it becomes its text, which is a look, unless it stands where a
    patch names its precondition."""
    try:
        return _frozen_at_once(tree, deep, nulls)
    except _Unusual:
        return _frozen(tree, path, deep, nulls)


class _Unusual(Exception):
    """There is something in a tree that has to be looked at, with the path that it has there."""


def _frozen_at_once(tree: Tree, deep: int, nulls: bool) -> Tree:
    """The same, for a tree of which no path matters: as nearly every patch is."""
    kind = type(tree)
    if kind in _LEAVES or (kind is str and tree.isascii()):
        return tree
    if not deep:
        raise _Unusual
    if kind is dict or kind is Map:
        kept = {}
        for name, value in tree.items():
            if type(name) is not str:
                raise _Unusual
            its = type(value)
            if (its is str and value.isascii()) or its is int or its is bool:
                kept[name] = value  # as nearly all are: it takes no call
            elif nulls or value is not None:
                kept[name] = _frozen_at_once(value, deep - 1, nulls)
        return Map(kept)
    if kind is list or kind is tuple:
        return tuple([_frozen_at_once(each, deep - 1, nulls) for each in tree])
    raise _Unusual


_LEAVES = (int, bool, type(None))


def _frozen(tree: Tree, path: str, deep: int, nulls: bool) -> Tree:
    if isinstance(tree, Mapping | list | tuple) and not deep:
        raise Misfit(path, f"at most {DEPTH_MAX} levels", tree)
    if isinstance(tree, Mapping):
        return Map(
            {
                name: _frozen(value, below(path, name), deep - 1, nulls)
                for name, value in tree.items()
                if nulls or value is not None
            }
        )
    if isinstance(tree, list | tuple):
        parts = enumerate(tree)
        return tuple(_frozen(each, f"{path}[{n}]", deep - 1, nulls) for n, each in parts)
    if isinstance(tree, str):
        return text_at(tree, path)
    if isinstance(tree, Revision):
        # As a precondition it is handed back. Anywhere else it is a text that can be read again.
        return tree if path == PRECONDITION else tree.text
    if tree is None or isinstance(tree, int) or (isinstance(tree, float) and isfinite(tree)):
        return tree
    raise Misfit(path, JSON, tree)


def thawed(tree: Tree) -> Tree:
    """A copy of a tree as dicts and lists."""
    if tree is None or isinstance(tree, (str, int)):
        return tree
    if isinstance(tree, Mapping):
        return {name: thawed(value) for name, value in tree.items()}
    return [thawed(value) for value in tree] if isinstance(tree, list | tuple) else tree


def shown(found: object) -> str:
    """A value in words, for an error."""
    if isinstance(found, Mapping):
        return "a mapping"
    if isinstance(found, list | tuple):
        return "a list"
    if found is None:
        return "nothing"
    if isinstance(found, int) and found.bit_length() > 64:
        return "a number of more than 64 bits"
    text = repr(found) if isinstance(found, str) else str(found)
    text = text.lower() if isinstance(found, bool) else text
    return text if len(text) <= 60 else f"{text[:57]}…"


def text_at(text: str, path: str) -> str:
    """The same text; Misfit if UTF-8 cannot encode it."""
    if not text.isascii() and any("\ud800" <= letter <= "\udfff" for letter in text):
        raise Misfit(path, "a text without half a letter", text)
    return text


def below(path: str, name: object) -> str:
    """The path of a name within `path`; Misfit if the name is not a text."""
    if not isinstance(name, str):
        raise Misfit(path, "a text for each name", name)
    return f"{path}.{name}" if path else name
