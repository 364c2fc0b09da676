"""The wire form: an object as the tree of JSON that Kubernetes writes, and back, field by field.

Each attrs class has one form, made of its fields and their types when it is first asked for. A
field is written under its own name in camelCase (`node_name` as `nodeName`), unless its metadata
(`wire(…)`) says how, and left out while it is unset. What a class does not model is not lost: a
tree of only that is kept in the object's `extra`, and laid over its own tree on the way out.
"""

from __future__ import annotations

import types
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any, TypeVar, get_args, get_origin, get_type_hints

import attrs

from testbed.objects import calendar
from testbed.objects.meta import Map, Object, Revision
from testbed.objects.quantity import Quantity

T = TypeVar("T")
MAPPING, LIST = "a mapping", "a list"
Tree = Any
"""What JSON can say; frozen, its mappings are Maps and its lists tuples."""
Reader = Callable[[Tree, str], Any]
Writer = Callable[[Any], Tree]


class Misfit(ValueError):
    """A value that cannot be what its field is: where it stands, and what was expected."""

    def __init__(self, path: str, expected: str, found: object) -> None:
        super().__init__(path, expected, found)
        self.path = path
        """As a manifest has it: `spec.containers[0].name`."""
        self.expected = expected
        self.found = found

    def __str__(self) -> str:
        return f"{self.path or 'the object'}: expected {self.expected}, found {shown(self.found)}"


@attrs.frozen
class Shape:
    """How a value is read from a tree at some path, and written to one."""

    expected: str
    """What it is, for whoever wrote something else."""
    read: Reader
    write: Writer


@attrs.frozen
class Field:
    """One field of a class, on the wire."""

    name: str
    wire_name: str
    shape: Shape
    is_optional: bool
    """Unset only if it is None; another field is, while it is nought."""
    is_always: bool
    """Written even if it is unset."""
    is_required: bool
    """There is no such object without it."""

    def is_unset(self, value: Any) -> bool:
        """Whether it has nothing to say."""
        return value is None or not (self.is_optional or self.is_always or value)


def to_tree(value: Any) -> dict[str, Any]:
    """The tree it is on the wire; of an Object, with its apiVersion, its kind and its `extra`."""
    tree: dict[str, Any] = {}
    if isinstance(value, Object):
        tree["apiVersion"], tree["kind"] = value.api_version, value.kind
    for field in fields_of(type(value)):
        given = getattr(value, field.name)
        if not field.is_unset(given):
            written = field.shape.write(given)
            if written != {} or field.is_optional or field.is_always:
                tree[field.wire_name] = written
    return laid_over(tree, value.extra) if isinstance(value, Object) else tree


def from_tree(cls: type[T], tree: Tree, path: str = "") -> T:
    """What a tree says; an Object keeps, as its `extra`, what it has no field for. Misfit."""
    if not isinstance(tree, Mapping):
        raise Misfit(path, MAPPING, tree)
    given = {}
    for field in fields_of(cls):
        here = tree.get(field.wire_name)
        if here is not None:
            given[field.name] = field.shape.read(here, _below(path, field.wire_name))
        elif field.is_required:
            raise Misfit(_below(path, field.wire_name), field.shape.expected, None)
    item = cls(**given)
    if not isinstance(item, Object):
        return item
    extra = beyond(tree, to_tree(item))
    return attrs.evolve(item, extra=extra) if extra else item


def beyond(said: Tree, written: Tree) -> Map[Any]:
    """What one tree says that another does not, frozen: by name, and in lists by place."""
    left: dict[str, Any] = {}
    for name, here in _named(said):
        there = dict(_named(written)).get(name)
        if there is None and here is not None:
            left[name] = frozen(here)
        elif rest := beyond(here, there):
            left[name] = rest
    return Map(left)


def laid_over(tree: Any, extra: Tree) -> Any:
    """A tree with what it does not say said by another."""
    for name, rest in _named(extra):
        if isinstance(tree, list):
            place = int(name)
            if place < len(tree):
                tree[place] = laid_over(tree[place], rest)
        elif isinstance(tree, dict):
            tree[name] = laid_over(tree[name], rest) if name in tree else thawed(rest)
    return tree


def frozen(tree: Tree) -> Tree:
    """The same tree, unable to change."""
    if isinstance(tree, Mapping):
        return Map({name: frozen(value) for name, value in tree.items() if value is not None})
    return tuple(map(frozen, tree)) if isinstance(tree, list | tuple) else tree


def thawed(tree: Tree) -> Tree:
    """The same tree as dicts and lists."""
    if isinstance(tree, Mapping):
        return {name: thawed(value) for name, value in tree.items()}
    return [thawed(value) for value in tree] if isinstance(tree, list | tuple) else tree


def shown(found: object) -> str:
    """What was found, for an error."""
    if isinstance(found, Mapping):
        return "a mapping"
    if isinstance(found, list | tuple):
        return "a list"
    if found is None:
        return "nothing"
    text = repr(found) if isinstance(found, str) else str(found)
    text = text.lower() if isinstance(found, bool) else text
    return text if len(text) <= 60 else f"{text[:57]}…"


def wire_name_of(name: str) -> str:
    """A field's name in camelCase: `node_name` is `nodeName`."""
    first, *rest = name.split("_")
    return first + "".join(word.capitalize() for word in rest)


_known: dict[type, tuple[Field, ...]] = {}


def fields_of(cls: type) -> tuple[Field, ...]:
    """The fields of an attrs class that are written, in the order they are."""
    fields = _known.get(cls)
    if fields is None:
        fields = _known[cls] = tuple(_fields(cls))
    return fields


def _fields(cls: type[Any]) -> Iterator[Field]:
    hints = get_type_hints(cls)
    for each in attrs.fields(cls):
        if each.name != "extra":
            said = each.metadata
            hint, is_optional = _bare(hints[each.name])
            shape = _shape(said.get("shape") or hint)
            name = said.get("wire") or wire_name_of(each.name)
            is_always, is_required = said.get("always", False), each.default is attrs.NOTHING
            yield Field(each.name, name, shape, is_optional, is_always, is_required)


def _bare(hint: Any) -> tuple[Any, bool]:
    """A type without its None, and whether it had one."""
    alternatives = [each for each in get_args(hint) if each is not types.NoneType]
    if not isinstance(hint, types.UnionType) or len(alternatives) != 1:
        return hint, False
    return alternatives[0], True


def _shape(hint: Any) -> Shape:
    if hint in SHAPES:
        return SHAPES[hint]
    origin, arguments = get_origin(hint), get_args(hint)
    if origin is tuple:
        return _list_of(_shape(arguments[0]))
    if origin is Map:
        return _map_of(_shape(arguments[0]))
    if attrs.has(hint):
        return Shape(MAPPING, partial(from_tree, hint), to_tree)
    raise TypeError(f"{hint} has no form on the wire")


def _list_of(item: Shape) -> Shape:
    def read(tree: Tree, path: str) -> Any:
        if not isinstance(tree, list | tuple):
            raise Misfit(path, LIST, tree)
        return tuple(item.read(each, f"{path}[{n}]") for n, each in enumerate(tree))

    return Shape(LIST, read, lambda value: [item.write(each) for each in value])


def _map_of(item: Shape) -> Shape:
    def read(tree: Tree, path: str) -> Any:
        if not isinstance(tree, Mapping):
            raise Misfit(path, MAPPING, tree)
        return Map({name: item.read(each, _below(path, name)) for name, each in tree.items()})

    return Shape(
        MAPPING, read, lambda value: {name: item.write(each) for name, each in value.items()}
    )


def _plain(kind: type | tuple[type, ...], expected: str) -> Shape:
    def read(tree: Tree, path: str) -> Any:
        if not isinstance(tree, kind) or (isinstance(tree, bool) and kind is not bool):
            raise Misfit(path, expected, tree)
        return tree

    return Shape(expected, read, lambda value: value)


def _parsed(parse: Callable[[Any], Any], write: Writer, *kind: type) -> Shape:
    def read(tree: Tree, path: str) -> Any:
        if not isinstance(tree, kind) or isinstance(tree, bool):
            raise Misfit(path, expected, tree)
        try:
            return parse(tree)
        except ValueError as error:
            raise Misfit(path, expected, tree) from error

    expected = ""
    try:
        parse("?")
    except ValueError as error:
        expected = str(error)
    return Shape(expected, read, write)


SHAPES: dict[Any, Shape] = {
    "time": _parsed(calendar.read, calendar.written, str),
    "fine time": _parsed(calendar.read, calendar.written_fine, str),
    str: _plain(str, "a text"),
    bool: _plain(bool, "true or false"),
    int: _plain(int, "a whole number"),
    int | str: _plain((int, str), "a whole number or a percentage"),
    Any: Shape("anything", lambda tree, _: frozen(tree), thawed),
    Quantity: _parsed(Quantity.parse, str, str, int, float),
    Revision: _parsed(Revision, str, str),
}


def _named(tree: Tree) -> list[tuple[str, Any]]:
    """The parts of a tree: by name, or in a list by place."""
    if isinstance(tree, Mapping):
        return list(tree.items())
    return [(str(n), each) for n, each in enumerate(tree)] if isinstance(tree, list) else []


def _below(path: str, name: str) -> str:
    return f"{path}.{name}" if path else name
