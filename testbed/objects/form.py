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
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial, reduce
from operator import or_
from typing import Any, TypeVar, get_args, get_origin, get_type_hints

import attrs

from testbed.objects.meta import Map, Object, evolved, texts
from testbed.objects.plain import LIST, MAPPING, Misfit, Tree, below, frozen, thawed
from testbed.objects.quantity import amounts
from testbed.objects.shape import SHAPES, Shape, as_it_is, map_of

T = TypeVar("T")
MARKS = ("name", "type", "uid")
"""The fields by which the items of a list are told apart, if each item has its own value."""


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
    default: Any
    """What it is if a tree does not have it."""
    is_plain: bool = attrs.field(init=False)
    """Whether its value stands in a tree as it is."""
    taken: type | None = attrs.field(init=False)
    """What a tree's value may be of to be taken without a further look: a bool, or a str of ASCII
    letters; None if each has to be read."""

    @is_plain.default
    def _(self) -> bool:
        return self.shape.write is as_it_is

    @taken.default
    def _(self) -> type | None:
        return bool if self.shape is SHAPES[bool] else str if self.shape.is_text else None

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
    if not isinstance(tree, dict) and not isinstance(tree, Mapping):
        raise Misfit(path, MAPPING, tree)
    given: dict[str, Any] = {}
    rest: dict[str, Any] = {}
    fields, is_object = field_by_wire_name(cls), issubclass(cls, Object)
    for name, here in tree.items():
        if here is None or (is_object and name in ("apiVersion", "kind")):
            continue
        field = fields.get(name)
        if field is None:
            rest[name] = frozen(here, below(path, name))
            continue
        kind: type = here.__class__
        if kind is field.taken and here and (here is True or here.isascii()):
            given[field.name] = here
            continue
        value, left = field.shape.read(here, f"{path}.{name}" if path else name)
        given[field.name] = value
        if left:
            rest[name] = left
        elif field.is_unset(value):
            # Given, but empty (`labels: {}`): noted, so that it is written as it was read.
            rest[name] = NOTHING if field.blank is not None else frozen(here, below(path, name))
    if not is_object and (blank := blank_of(cls)) is not None:
        return evolved(blank, **given), Map(rest) if rest else NOTHING
    for field in fields.values():
        if field.is_required and field.name not in given:
            raise Misfit(below(path, field.wire_name), field.shape.expected, None)
    if is_object:
        given["extra"] = Map(rest)
    return cls(**given), Map(rest)


def write_part(value: Any, rest: Tree) -> dict[str, Any]:
    """The tree of a part of an object, with the `rest` that `extra` holds of it."""
    kind = type(value)
    if not rest:
        write = _writers.get(kind)
        if write is None:
            write = _writers[kind] = _writer(kind)
        return write(value)
    tree: dict[str, Any] = {}
    fields = field_by_wire_name(kind)
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


# Nearly every part has no rest, and is then written by one function made of its fields, as attrs
# makes its `__init__`: `if (x := value.phase): tree["phase"] = x`.
def _writer(cls: type) -> Callable[[Any], dict[str, Any]]:
    known: dict[str, Any] = {}
    lines = ["def write(value):", "    tree = {}"]
    for n, field in enumerate(field_by_wire_name(cls).values()):
        written = "x" if field.is_plain else f"write{n}(x, None)"
        known |= {f"write{n}": field.shape.write, f"blank{n}": field.blank}
        is_set = "x"
        if field.blank is not None:
            is_set = f"x is not blank{n} and x != blank{n}"
        elif field.is_optional or field.is_always:
            is_set = "x is not None"
        lines += [
            f"    x = value.{field.name}",
            f"    if {is_set}:",
            f"        tree[{field.wire_name!r}] = {written}",
        ]
    exec("\n".join([*lines, "    return tree"]), known)
    write: Callable[[Any], dict[str, Any]] = known["write"]
    return write


_writers: dict[type, Callable[[Any], dict[str, Any]]] = {}


def is_as_read(value: Any) -> bool:
    """Whether a value, once written, is read as the same again: no time in it has a fraction that
    the wire leaves out."""
    return _test_of(type(value))(value)


def _test_of(cls: type) -> Test:
    """Make the test of `is_as_read` for a class, as one expression of its fields."""
    if cls in _tests:
        return _tests[cls]
    _tests[cls] = lambda value: _tests[cls](value)  # where a class has parts of its own kind
    known: dict[str, Any] = {}
    tests = []
    for n, field in enumerate(fields_of(cls)):
        shape, value = field.shape, f"(x := v.{field.name})"
        if not field.is_required and not field.is_unset(field.default):
            known[f"unset{n}"] = field.is_unset
            tests.append(f"not unset{n}(v.{field.name})")
        if shape is SHAPES["time"]:
            tests.append(f"({value} is None or x % 1000 == 0)")
        elif shape is SHAPES["times"]:
            tests.append(f"all(each % 1000 == 0 for each in v.{field.name}.values())")
        elif shape.parts is not None and (test := _test_of(shape.parts)) is not _always:
            known[f"test{n}"] = test
            is_same = f"all(map(test{n}, x))" if shape.is_list else f"test{n}(x)"
            tests.append(
                f"(not {value} or {is_same})"
                if shape.is_list
                else f"({value} is None or {is_same})"
            )
    _tests[cls] = eval(f"lambda v: {' and '.join(tests)}", known) if tests else _always
    return _tests[cls]


def _always(_: Any) -> bool:
    return True


Test = Callable[[Any], bool]
_tests: dict[type, Test] = {}


def unmodelled(cls: type, extra: Mapping[str, Any], path: str = "") -> Iterator[str]:
    """The paths of all unknown fields in an `extra`, at any depth, with `[]` for any item of a
    list: `spec.containers[].volumeMounts`."""
    fields = field_by_wire_name(cls)
    for name, rest in extra.items():
        here = below(path, name)
        if name not in fields:
            yield here
        elif (shape := fields[name].shape).parts is not None and isinstance(rest, Mapping):
            for each in rest.values() if shape.is_list else (rest,):
                yield from unmodelled(shape.parts, each, f"{here}[]" if shape.is_list else here)


def wire_name_of(name: str) -> str:
    """The name of a field in camelCase: `nodeName` for `node_name`."""
    first, *rest = name.split("_")
    return first + "".join(word.capitalize() for word in rest)


_known: dict[type, dict[str, Field]] = {}
NOTHING: Map[Any] = Map()


def fields_of(cls: type) -> tuple[Field, ...]:
    """The fields of an attrs class that are on the wire, in order."""
    return tuple(field_by_wire_name(cls).values())


def field_by_wire_name(cls: type) -> dict[str, Field]:
    """The same, by their names on the wire. It is kept: never write it."""
    fields = _known.get(cls)
    if fields is None:
        fields = _known[cls] = {field.wire_name: field for field in _fields(cls)}
    return fields


def blank_of(cls: type[Any]) -> Any:
    """An instance in which nothing is set, from which `evolved` makes any other; None if there is
    none."""
    if cls not in _blanks:
        defaults = [_default(each) for each in attrs.fields(cls)]
        _blanks[cls] = None if attrs.NOTHING in defaults or not is_plain(cls) else cls()
    return _blanks[cls]


def is_plain(cls: type) -> bool:
    """Whether `evolved` may change any field of it: it has no code of its own that looks at what an
    instance is made of."""
    if cls not in _are_plain:
        own = getattr(cls, "__attrs_post_init__", None)
        _are_plain[cls] = own in (None, Object.__attrs_post_init__) and all(
            each.converter in (None, texts, amounts, attrs.fields(Object).meta.converter)
            and each.validator is None
            and each.init
            for each in attrs.fields(cls)
        )
    return _are_plain[cls]


_are_plain: dict[type, bool] = {}
_blanks: dict[type, Any] = {}


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
            default = _default(each)
            yield Field(each.name, name, shape, is_optional, is_always, is_required, blank, default)


def _default(field: attrs.Attribute[Any]) -> Any:
    """What it is in an instance of which nothing is said; NOTHING if that is not known."""
    made: Any = field.default
    if not isinstance(made, attrs.Factory):  # type: ignore[arg-type]
        return made
    return attrs.NOTHING if made.takes_self else made.factory()


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
        return map_of(_shape(arguments[0]))
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
        for _, left in pairs:
            if left:
                break
        else:
            return values, None
        parts = None if item.is_list else item.parts
        marks = _marks(write(values, None)) if parts is None else marks_of(parts, values)
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


def marks_of(cls: type, values: Sequence[Any]) -> list[str]:
    """A key for each of these instances of a class: its name, type or uid, or else its place."""
    named = field_by_wire_name(cls).get(MARKS[0])
    if named is not None and named.shape.is_text:
        names = [getattr(value, named.name) for value in values]
        if all(names) and len(set(names)) == len(names):
            return names
    return _marks([write_part(value, NOTHING) for value in values])


def _marks(trees: list[Tree]) -> list[str]:
    """A key for each item of a list: its own name, type or uid, or else its place."""
    if all(isinstance(tree, Mapping) for tree in trees):
        for mark in MARKS:
            values = [tree.get(mark) for tree in trees]
            if all(values) and len(set(values)) == len(values):
                return values
    return [str(n) for n in range(len(trees))]
