"""Handed: what crosses between actors and Endpoints. No two of them hold one thing that can change.

A list that an Endpoint answers with, and goes on adding to, would show its callers in each later
turn what others have asked since, and no footprint says so. So a list, a dict or a set is copied
when it crosses, as it would be on a real wire, and a refusal is an exception of the caller's own.
"""

from __future__ import annotations

from collections.abc import Iterable
from copy import copy
from typing import Any

import attrs

from testbed.client.open_watch import OpenWatch
from testbed.client.stream import Stream
from testbed.code.changing import is_frozen
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
        items = tuple(map(handed, value))
        return value if _are_same(value, items) else items
    if kind is Map:
        given = {name: handed(held) for name, held in value.items()}
        return value if _are_same(value.values(), given.values()) else Map(given)
    return _with_fields_handed(value) if attrs.has(kind) else value


def _with_fields_handed(value: Any) -> Any:
    """The same of an attrs class; its own fields decide unless it is frozen itself."""
    fields = attrs.fields(value.__class__)
    held = [getattr(value, field.name) for field in fields]
    given = list(map(handed, held))
    if is_frozen(value.__class__) and _are_same(held, given):
        return value
    made = copy(value)
    for field, each in zip(fields, given, strict=True):
        object.__setattr__(made, field.name, each)
    return made


def _are_same(some: Iterable[object], others: Iterable[object]) -> bool:
    return all(one is other for one, other in zip(some, others, strict=True))


def refused(error: ApiError) -> ApiError:
    """The refusal that its caller catches. An Endpoint may raise one exception again and again;
    what a caller adds to its own, a traceback among it, no other caller sees."""
    return copy(error)


def asked(operation: Operation) -> Operation:
    """What its Endpoint is given of an Operation that an actor has made itself."""
    body, options = operation.body, operation.options
    given = handed(body)
    if given is body and options is NO_OPTIONS:
        return operation
    return attrs.evolve(operation, body=given, options=handed(options))
