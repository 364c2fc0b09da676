"""Part patching: applies a patch to an object itself, field by field, and not to its tree.

It comes to the same as `patching.patched` of the whole tree, but touches only what the patch names:
the spec of a pod whose status is patched stays the very same value. What a patch rarely asks for is
left to the tree, and so is each refusal.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

from actors.apiserver.verbs.patching import (
    KEYS,
    ORDER,
    PATCH,
    SETS,
    MergedList,
    field_patched,
    in_order,
    order_of,
)
from testbed.objects.form import Field, blank_of, field_by_wire_name, is_as_read, is_plain
from testbed.objects.meta import Map, Revision, evolved
from testbed.objects.plain import thawed
from testbed.objects.shape import as_it_is

STRATEGIC = "strategic"
MERGED = frozenset((*KEYS, *SETS))
"""Lists that a strategic patch merges."""
PLAIN = frozenset((str, int, bool, float, Revision))
NOTHING: Map[Any] = Map()


class Beyond(ValueError):
    """The patch has to be applied to the tree."""


def patched_by_part(item: Any, patch: Any, how: str) -> Any:
    """The object after the patch, field by field; None if that has to be found out by its tree. So
    it is, too, if there can be no such object: the tree then says why."""
    if how not in ("merge", STRATEGIC) or not isinstance(patch, Map) or not is_as_read(item):
        return None
    try:
        new, extra = _patched(item, item.extra, patch, how)
    except ValueError:
        return None
    if extra is not item.extra:
        new = evolved(new, extra=Map(extra))
    return new if new.meta.namespace or not new.is_namespaced else None


def _patched(
    value: Any, rest: Mapping[str, Any], patch: Mapping[str, Any], how: str
) -> tuple[Any, Mapping[str, Any]]:
    """A part of an object after a patch, and the rest that its `extra` then holds of it; the same
    two if nothing changes."""
    fields = _fields_of(type(value))
    changes: dict[str, Any] = {}
    orders: list[str] = []
    for name, change in patch.items():
        field = fields.get(name)
        if field is None:
            if how != STRATEGIC or not name.startswith(ORDER):
                raise Beyond
            orders.append(name)
            continue
        was, over, kind = getattr(value, field.name), rest.get(name), change.__class__
        if field.is_plain and was.__class__ is kind and was == change:
            continue
        if kind is str and field.taken is str and change.isascii():
            changes[field.name], left = change, None
        else:
            now, left = _field_patched(field, (was, over), change, how)
            # To compare two revisions may be a look at them.
            if now is not was and (field.name == "revision" or now != was):
                changes[field.name] = now
        if left or over is not None:
            rest = {each: kept for each, kept in rest.items() if each != name}
            if left:
                rest[name] = left
    for name in orders:
        field = fields.get(name.removeprefix(ORDER))
        if field is None or rest.get(field.wire_name):
            raise Beyond
        was = changes.get(field.name, getattr(value, field.name))
        now = _ordered(field, was, patch[name])
        if now != was:
            changes[field.name] = now
    return (evolved(value, **changes) if changes else value), rest


def _field_patched(field: Field, part: tuple[Any, Any], change: Any, how: str) -> tuple[Any, Any]:
    """The value of a field, and its rest, after a patch says this of it."""
    was, over = part
    shape = field.shape
    kind = change.__class__
    if change is None:
        if field.is_required:
            raise Beyond
        return field.default, None
    if kind in PLAIN:
        return shape.read(change, "")
    if kind is tuple:
        if how != STRATEGIC or field.wire_name not in MERGED:
            return shape.read(change, "")
        if shape.is_list and shape.parts is not None and not over:
            return _list_patched(field, was, change), None
    elif isinstance(change, dict) and shape.parts is not None and not shape.is_list:
        if was is None:
            return _patched(_blank(shape.parts), NOTHING, change, how)
        return _patched(was, over or NOTHING, change, how)
    tree = field_patched(_tree_of(field, was, over), change, field.wire_name, how)
    return shape.read(tree, "")


def _fields_of(cls: type) -> dict[str, Field]:
    """The fields of a class by their names on the wire, if they may be changed one by one."""
    if not is_plain(cls):
        raise Beyond
    return field_by_wire_name(cls)


def _blank(cls: type) -> Any:
    blank = blank_of(cls)
    if blank is None:
        raise Beyond
    return blank


def _tree_of(field: Field, value: Any, over: Any) -> Any:
    """The tree of a field; None if its object is written without it."""
    if not field.is_unset(value) or (over is not None and field.blank is not None):
        return field.shape.write(value, over)
    return thawed(over) if over is not None and not over else None


def _list_patched(field: Field, values: tuple[Any, ...], changes: tuple[Any, ...]) -> Any:
    """A list after a patch of some of its items, which have nothing beside their fields."""
    cls, key = field.shape.parts, KEYS.get(field.wire_name, "")
    assert cls is not None
    name = _key_of(cls, key)
    merged = MergedList(values, [getattr(each, name) for each in values])
    for change in changes:
        if not isinstance(change, dict) or key not in change:
            raise Beyond
        said = change[key]
        if change.get(PATCH) == "delete":
            merged.drop(said)
            continue
        was = merged.get(said)
        now, left = _patched(_blank(cls) if was is None else was, NOTHING, change, STRATEGIC)
        if left:
            raise Beyond
        merged.put(said, now)
    return tuple(merged.items)


def _ordered(field: Field, values: Any, given: Any) -> Any:
    """The items of a list in the order that `$setElementOrder` gives."""
    if not isinstance(values, tuple) or not isinstance(given, tuple):
        raise Beyond
    key = KEYS.get(field.wire_name, "")
    name = _key_of(field.shape.parts, key) if key else ""
    names = [getattr(each, name) if name else each for each in values]
    order = order_of(given, key)
    return values if names == order else tuple(in_order(values, names, order))


@cache
def _key_of(cls: type | None, key: str) -> str:
    """The name of the field by which items are told apart; Beyond if an item may be without it, or
    has it in another form than its tree."""
    field = None if cls is None else field_by_wire_name(cls).get(key)
    if field is None or not field.is_always or field.shape.write is not as_it_is:
        raise Beyond
    return field.name
