"""Shape: how values of one type are read from a tree and written to one, for all that has no parts.

`form.py` makes the shapes of classes and lists of these.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any

import attrs

from testbed.objects import calendar
from testbed.objects.meta import Map, Revision
from testbed.objects.plain import JSON, LIST, MAPPING, Misfit, Tree, below, frozen, text_at, thawed
from testbed.objects.quantity import Quantity

Reader = Callable[[Tree, str], tuple[Any, Tree]]
"""From a tree and its path to the value, and the rest of the tree."""
Writer = Callable[[Any, Tree], Tree]
"""From a value and the rest to the tree."""


@attrs.frozen
class Shape:
    """How values of one type are read from a tree, and written to one."""

    expected: str
    """What it has to be, for the error if it is something else."""
    read: Reader
    write: Writer
    parts: type | None = None
    """The attrs class of the value, or of each item; None if neither is of one."""
    is_text: bool = False
    """Whether the value is any text, which stands in a tree as it is."""

    @property
    def is_list(self) -> bool:
        """Whether the value is a list."""
        return self.expected == LIST


def map_of(item: Shape) -> Shape:
    """The shape of a mapping from names to values of one shape."""

    def read(tree: Tree, path: str) -> tuple[Any, Tree]:
        if not isinstance(tree, Mapping):
            raise Misfit(path, MAPPING, tree)
        pairs = {
            name: item.read(each, below(path, name))
            for name, each in tree.items()
            if each is not None
        }
        rest = Map({name: left for name, (_, left) in pairs.items() if left})
        return Map({name: value for name, (value, _) in pairs.items()}), rest

    def write(values: Any, rest: Tree) -> Tree:
        over = rest or {}
        return {name: item.write(value, over.get(name)) for name, value in values.items()}

    return Shape(MAPPING, read, write)


def _plain(kind: type | tuple[type, ...], expected: str) -> Shape:
    def read(tree: Tree, path: str) -> tuple[Any, Tree]:
        if not isinstance(tree, kind) or (isinstance(tree, bool) and kind is not bool):
            raise Misfit(path, expected, tree)
        if isinstance(tree, str):
            return text_at(tree, path), None
        if isinstance(tree, int) and tree.bit_length() > 63:
            raise Misfit(path, expected, tree)
        return tree, None

    return Shape(expected, read, as_it_is, is_text=kind is str)


def as_it_is(value: Any, _: Tree) -> Any:
    """Writes a plain value, which stands in a tree as it is."""
    return value


def _parsed(
    expected: str, parse: Callable[[Any], Any], write: Callable[[Any], Tree], *kind: type
) -> Shape:
    def read(tree: Tree, path: str) -> tuple[Any, Tree]:
        if not isinstance(tree, kind) or isinstance(tree, bool):
            raise Misfit(path, expected, tree)
        try:
            return parse(tree), None
        except ValueError as error:
            raise Misfit(path, expected, tree) from error

    return Shape(expected, read, lambda value, _: write(value))


def _revision(tree: str | Revision) -> Revision:
    return tree if isinstance(tree, Revision) else Revision(tree)


# A cluster writes few different amounts, and those very often.
_amount = lru_cache(4096)(Quantity.parse)

TEXT, TIME = "a text", "a time such as 2025-01-01T00:00:30Z"
FINE = "a time such as 2025-01-01T00:00:30.250000Z"
SHAPES: dict[Any, Shape] = {
    "time": _parsed(TIME, calendar.read_whole, calendar.written, str),
    "times": map_of(_parsed(TIME, calendar.read_whole, calendar.written, str)),
    "fine time": _parsed(FINE, calendar.read, calendar.written_fine, str),
    str: _plain(str, TEXT),
    bool: _plain(bool, "true or false"),
    int: _plain(int, "a whole number"),
    int | str: _plain((int, str), "a whole number or a percentage"),
    Any: Shape(JSON, lambda tree, path: (frozen(tree, path), None), lambda tree, _: thawed(tree)),
    Quantity: _parsed("an amount such as 500m, 1Gi or 2", _amount, str, str, int, float),
    Revision: _parsed(TEXT, _revision, str, str, Revision),
}
