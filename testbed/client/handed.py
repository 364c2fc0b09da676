"""Handed: what crosses between actors and Endpoints. No two of them hold one thing that can change.

A list that an Endpoint answers with, and goes on adding to, would show its callers in each later
turn what others have asked since, and no footprint says so. So a list, a dict or a set is copied
when it crosses, as it would be on a real wire, and a refusal is an exception of the caller's own.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from copy import copy
from functools import cache
from typing import Any

import attrs

from testbed.client.open_watch import OpenWatch
from testbed.client.stream import Stream
from testbed.code.changing import is_frozen
from testbed.code.copier import values_of
from testbed.errors import ApiError
from testbed.objects.meta import Map, Object
from testbed.store.endpoint import NO_OPTIONS, Listing, Operation

SETTLED: set[type] = {type(None), str, int, bool, float, bytes}
"""Classes whose instances cross as they are; the kinds of objects join them as they are met."""


def handed(value: Any) -> Any:
    """What the other side is given: the same if it cannot change, or else a copy."""
    kind = value.__class__
    if kind in SETTLED or (kind is Listing and value.items.__class__ is tuple):
        return value
    if isinstance(value, Object):
        SETTLED.add(kind)
        return value
    if kind is OpenWatch:
        return Stream(value)
    if kind in (list, set, bytearray):
        return kind(map(handed, value))
    if kind is dict:
        return {name: handed(held) for name, held in value.items()}
    if kind is tuple:
        given = _all_handed(value)
        return value if given is value else tuple(given)
    if kind is Map:
        held = tuple(value.values())
        given = _all_handed(held)
        return value if given is held else Map(zip(value, given, strict=True))
    return _with_fields_handed(value) if attrs.has(kind) else value


def _with_fields_handed(value: Any) -> Any:
    """The same of an attrs class; its own fields decide unless it is frozen itself."""
    names, held_by, is_fixed = _fields(value.__class__)
    held = held_by(value)
    given = _all_handed(held)
    if is_fixed and given is held:
        return value
    made = copy(value)
    for name, each in zip(names, given, strict=True):
        object.__setattr__(made, name, each)
    return made


def _all_handed(held: tuple[Any, ...]) -> Sequence[Any]:
    """Each of these as it crosses; the same tuple if all do as they are."""
    if SETTLED.issuperset(map(type, held)):
        return held
    given = list(map(handed, held))
    return held if all(one is other for one, other in zip(held, given, strict=True)) else given


@cache
def _fields(kind: type) -> tuple[list[str], Callable[[Any], tuple[Any, ...]], bool]:
    """The names of the fields of an attrs class, what returns their values, and whether it is
    frozen."""
    names = [field.name for field in attrs.fields(kind)]
    return names, values_of(names), is_frozen(kind)


def refused(error: ApiError) -> ApiError:
    """The refusal that its caller catches. An Endpoint may raise one exception again and again;
    what a caller adds to its own, a traceback among it, no other caller sees."""
    # Not by `copy`, which would call a constructor of the user's own with the text alone.
    kind = error.__class__
    made = kind.__new__(kind, *error.args)
    made.__dict__.update(error.__dict__)
    return made


def asked(operation: Operation) -> Operation:
    """What its Endpoint is given of an Operation that an actor has made itself."""
    body, options = operation.body, operation.options
    given = body if body.__class__ in SETTLED else handed(body)
    settled = options if options is NO_OPTIONS else handed(options)
    if given is body and settled is options:
        return operation
    return attrs.evolve(operation, body=given, options=settled)
