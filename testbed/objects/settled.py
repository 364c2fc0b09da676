"""Settled: an object as a server stores it, with only unknown fields in its `extra`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from testbed.objects.form import NOTHING, field_by_wire_name, marks_of
from testbed.objects.meta import Map, Object, evolved
from testbed.objects.shape import Shape

T = TypeVar("T")


def settled(item: T) -> T:
    """The same Object with only unknown fields in its `extra`, as a server stores it.

    That removes notes that a known field was given as empty, and what belonged to list items that
    are gone.
    """
    if not isinstance(item, Object) or not item.extra:
        return item
    if _is_modelled(type(item), item.extra):
        return evolved(item, extra=NOTHING)
    extra = _beside(item, item.extra)
    return item if extra == item.extra else evolved(item, extra=extra)


def _is_modelled(cls: type, extra: Mapping[str, Any]) -> bool:
    """Whether there is no unknown field in an `extra`, at any depth: nearly every write of a status
    leaves such notes only, and to find that out takes no look at the parts themselves."""
    fields = field_by_wire_name(cls)
    for name, rest in extra.items():
        field = fields.get(name)
        if field is None:
            return False
        shape = field.shape
        if rest and shape.parts is not None:
            for each in rest.values() if shape.is_list else (rest,):
                if not _is_modelled(shape.parts, each):
                    return False
    return True


def _beside(value: Any, extra: Mapping[str, Any]) -> Map[Any]:
    """The unknown fields in the `extra` of a value, and of the parts in it."""
    fields, left = field_by_wire_name(type(value)), {}
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
    marks = marks_of(shape.parts, value)
    parts = dict(zip(marks, value, strict=True))
    inner = {mark: _beside(parts[mark], left) for mark, left in rest.items() if mark in parts}
    return Map({mark: left for mark, left in inner.items() if left})
