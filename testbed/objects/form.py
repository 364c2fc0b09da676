"""The wire form: an object as the JSON tree that Kubernetes writes, and back, field by field.

Each attrs class has one form, derived from its fields and their types at first use. A field is
written under its own name in camelCase (`node_name` as `nodeName`), unless its metadata (`wire(…)`)
says otherwise, and left out while it is unset.

Unknown fields are kept. A pod that is read, changed and written back must still have its volumes,
which no class here models. So reading splits a tree in two: the fields that a class has, and the
rest. The rest is a tree of the same shape with only the unknown fields in it, and the object keeps
it as its `extra`. Writing puts the rest back beside the fields. The rest of a list item is kept by
the item's name (or type, uid or place): it follows the item when others come and go, and it is
dropped when the item is gone.
"""

from __future__ import annotations

import types
from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache, partial, reduce
from operator import or_
from typing import Any, TypeVar, get_args, get_origin, get_type_hints

import attrs

from testbed.objects import calendar
from testbed.objects.meta import Map, Object, Revision
from testbed.objects.plain import JSON, LIST, MAPPING, Misfit, Tree, below, frozen, text_at, thawed
from testbed.objects.quantity import Quantity

T = TypeVar("T")
MARKS = ("name", "type", "uid")
"""The fields by which the items of a list are told apart, if each item has its own value."""
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

    @property
    def is_list(self) -> bool:
        """Whether the value is a list."""
        return self.expected == LIST


@attrs.frozen
class Field:
    """One field of a class, as it is on the wire."""

    name: str
    wire_name: str
    shape: Shape
    is_optional: bool
    """Whether only None means unset. For other fields zero, false and empty mean unset, too."""
    is_always: bool
    """Whether it is written even if it is unset."""
    is_required: bool
    """Whether a tree without it is refused."""
    blank: Any
    """For a part that is never None (a spec, a status): the value that means unset."""

    def is_unset(self, value: Any) -> bool:
        """Whether `value` means that the field is unset."""
        if self.blank is not None:
            return bool(value == self.blank)
        return value is None or not (self.is_optional or self.is_always or value)


def to_tree(value: Any) -> dict[str, Any]:
    """The tree of a value on the wire; for an Object with its apiVersion, kind and `extra`."""
    if not isinstance(value, Object):
        return write_part(value, NOTHING)
    return {"apiVersion": value.api_version, "kind": value.kind, **write_part(value, value.extra)}


def from_tree(cls: type[T], tree: Tree, path: str = "") -> T:
    """The value of a tree. An Object keeps in `extra` what it has no field for. Misfit if the tree
    is not of that class."""
    item, _ = read_part(cls, tree, path)
    return item


def read_part(cls: type[T], tree: Tree, path: str) -> tuple[T, Map[Any]]:
    """A part of an object from its tree, and the rest of the tree, for `extra`."""
    if not isinstance(tree, Mapping):
        raise Misfit(path, MAPPING, tree)
    given: dict[str, Any] = {}
    rest: dict[str, Any] = {}
    fields, is_object = _by_wire_name(cls), issubclass(cls, Object)
    for name, here in tree.items():
        field = fields.get(name)
        if here is None or (is_object and name in ("apiVersion", "kind")):
            continue
        there = below(path, name)
        if field is None:
            rest[name] = frozen(here, there)
            continue
        value, left = field.shape.read(here, there)
        given[field.name] = value
        if left:
            rest[name] = left
        elif field.is_unset(value):
            # Given, but empty (`labels: {}`): noted, so that it is written as it was read.
            rest[name] = NOTHING if field.blank is not None else frozen(here, there)
    for field in _required(cls):
        if field.name not in given:
            raise Misfit(below(path, field.wire_name), field.shape.expected, None)
    if is_object:
        given["extra"] = Map(rest)
    return cls(**given), Map(rest)


def write_part(value: Any, rest: Tree) -> dict[str, Any]:
    """The tree of a part of an object, with the `rest` that `extra` holds of it."""
    tree: dict[str, Any] = {}
    fields = _by_wire_name(type(value))
    for name, field in fields.items():
        given, over = getattr(value, field.name), rest.get(name)
        if not field.is_unset(given) or (over is not None and field.blank is not None):
            written = field.shape.write(given, over)
            if written or field.blank is None or not over:
                tree[name] = written
        elif over is not None and not over:
            # It was given as empty, and is so still. Any other rest of a field that is unset by now
            # goes with its value: a list without items has no unknown fields of items either.
            tree[name] = thawed(over)
    for name in rest:
        if name not in fields:
            tree[name] = thawed(rest[name])
    return tree


def unmodelled(cls: type, extra: Mapping[str, Any], path: str = "") -> Iterator[str]:
    """The paths of all unknown fields in an `extra`, at any depth, with `[]` for any item of a
    list: `spec.containers[].volumeMounts`."""
    fields = _by_wire_name(cls)
    for name, rest in extra.items():
        here = below(path, name)
        if name not in fields:
            yield here
        elif (shape := fields[name].shape).parts is not None and isinstance(rest, Mapping):
            for each in rest.values() if shape.is_list else (rest,):
                yield from unmodelled(shape.parts, each, f"{here}[]" if shape.is_list else here)


def settled(item: T) -> T:
    """The same Object with only unknown fields in its `extra`, as a server stores it.

    That removes notes that a known field was given as empty, and what belonged to list items that
    are gone.
    """
    if not isinstance(item, Object) or not item.extra:
        return item
    extra = _beside(item, item.extra)
    return item if extra == item.extra else attrs.evolve(item, extra=extra)


def _beside(value: Any, extra: Mapping[str, Any]) -> Map[Any]:
    """The unknown fields in the `extra` of a value, and of the parts in it."""
    fields, left = _by_wire_name(type(value)), {}
    for name, rest in extra.items():
        field = fields.get(name)
        if field is None:
            left[name] = rest
        elif inner := _beside_parts(field.shape, getattr(value, field.name), rest):
            left[name] = inner
    return Map(left)


def _beside_parts(shape: Shape, value: Any, rest: Any) -> Map[Any]:
    """The unknown fields of the parts of one field, if it has parts."""
    if shape.parts is None or not value or not rest:
        return NOTHING
    if not shape.is_list:
        return _beside(value, rest)
    marks = _marks([write_part(each, NOTHING) for each in value])
    parts = dict(zip(marks, value, strict=True))
    inner = {mark: _beside(parts[mark], left) for mark, left in rest.items() if mark in parts}
    return Map({mark: left for mark, left in inner.items() if left})


def wire_name_of(name: str) -> str:
    """The name of a field in camelCase: `nodeName` for `node_name`."""
    first, *rest = name.split("_")
    return first + "".join(word.capitalize() for word in rest)


_known: dict[type, dict[str, Field]] = {}
_needed: dict[type, tuple[Field, ...]] = {}
NOTHING: Map[Any] = Map()


def fields_of(cls: type) -> tuple[Field, ...]:
    """The fields of an attrs class that are on the wire, in order."""
    return tuple(_by_wire_name(cls).values())


def _by_wire_name(cls: type) -> dict[str, Field]:
    fields = _known.get(cls)
    if fields is None:
        fields = _known[cls] = {field.wire_name: field for field in _fields(cls)}
    return fields


def _required(cls: type) -> tuple[Field, ...]:
    fields = _needed.get(cls)
    if fields is None:
        fields = _needed[cls] = tuple(each for each in fields_of(cls) if each.is_required)
    return fields


def _fields(cls: type[Any]) -> Iterator[Field]:
    hints = get_type_hints(cls)
    for each in attrs.fields(cls):
        if each.name != "extra":
            wired = each.metadata
            hint, is_optional = _bare(hints[each.name])
            shape = _shape(wired.get("shape") or hint)
            name = wired.get("wire") or wire_name_of(each.name)
            is_required = each.default is attrs.NOTHING
            is_always = wired.get("always", False) or is_required
            is_part = attrs.has(hint) and not is_optional and not is_always
            blank = hint() if is_part else None
            yield Field(each.name, name, shape, is_optional, is_always, is_required, blank)


def _bare(hint: Any) -> tuple[Any, bool]:
    """A type without its `| None`, and whether it had one."""
    alternatives = [each for each in get_args(hint) if each is not types.NoneType]
    if not isinstance(hint, types.UnionType) or len(alternatives) == len(get_args(hint)):
        return hint, False
    return reduce(or_, alternatives), True


def _shape(hint: Any) -> Shape:
    if hint in SHAPES:
        return SHAPES[hint]
    origin, arguments = get_origin(hint), get_args(hint)
    if origin is tuple:
        return _list_of(_shape(arguments[0]))
    if origin is Map:
        return _map_of(_shape(arguments[0]))
    if attrs.has(hint):
        return Shape(
            MAPPING,
            partial(read_part, hint),
            lambda value, rest: write_part(value, rest or {}),
            hint,
        )
    raise TypeError(f"{hint} has no form on the wire")


def _list_of(item: Shape) -> Shape:
    def read(tree: Tree, path: str) -> tuple[Any, Tree]:
        if not isinstance(tree, list | tuple):
            raise Misfit(path, LIST, tree)
        pairs = [item.read(each, f"{path}[{n}]") for n, each in enumerate(tree)]
        values = tuple(value for value, _ in pairs)
        if not any(left for _, left in pairs):
            return values, None
        marks = _marks([item.write(value, None) for value in values])
        return values, Map(
            {mark: left for mark, (_, left) in zip(marks, pairs, strict=True) if left}
        )

    def write(values: Any, rest: Tree) -> Tree:
        trees = [item.write(value, None) for value in values]
        if rest:
            for n, mark in enumerate(_marks(trees)):
                if mark in rest:
                    trees[n] = item.write(values[n], rest[mark])
        return trees

    return Shape(LIST, read, write, item.parts)


def _marks(trees: list[Tree]) -> list[str]:
    """A key for each item of a list: its own name, type or uid, or else its place."""
    if all(isinstance(tree, Mapping) for tree in trees):
        for mark in MARKS:
            values = [tree.get(mark) for tree in trees]
            if all(values) and len(set(values)) == len(values):
                return values
    return [str(n) for n in range(len(trees))]


def _map_of(item: Shape) -> Shape:
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
        over = rest or NOTHING
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

    return Shape(expected, read, lambda value, _: value)


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
    "times": _map_of(_parsed(TIME, calendar.read_whole, calendar.written, str)),
    "fine time": _parsed(FINE, calendar.read, calendar.written_fine, str),
    str: _plain(str, TEXT),
    bool: _plain(bool, "true or false"),
    int: _plain(int, "a whole number"),
    int | str: _plain((int, str), "a whole number or a percentage"),
    Any: Shape(JSON, lambda tree, path: (frozen(tree, path), None), lambda tree, _: thawed(tree)),
    Quantity: _parsed("an amount such as 500m, 1Gi or 2", _amount, str, str, int, float),
    Revision: _parsed(TEXT, _revision, str, str, Revision),
}
