"""Changing: which objects can change after they were made, told by their class."""

from __future__ import annotations

import sys
from array import array
from collections import deque
from collections.abc import Iterator
from enum import Enum
from io import IOBase
from random import Random
from types import FunctionType, ModuleType, SimpleNamespace
from typing import Any

import attrs

from testbed.code.whose import OWN, SHIPPED, whose

CONTAINERS = (list, dict, set, bytearray, deque, array)
"""What can change and is Python's own."""
KEEPERS = (Iterator, IOBase, Random, SimpleNamespace)
"""What goes on where it was left."""
STEADY = (tuple, frozenset, str, bytes, Enum, BaseException, type, ModuleType, FunctionType)


def is_frozen(kind: type) -> bool:
    """Return whether instances of a class refuse to be changed: frozen ones of attrs or of
    dataclasses."""
    params: Any = getattr(kind, "__dataclass_params__", None)
    if params is not None and params.frozen:
        return True
    return attrs.has(kind) and kind.__setattr__.__name__ == "_frozen_setattrs"


def can_change(value: object) -> bool:
    """Return whether it can be another one in each turn: a list, an iterator, an object with fields
    of its own that is not frozen. What a library makes is believed not to, and so is what has no
    field."""
    kind = type(value)
    if isinstance(value, CONTAINERS):
        return kind.__hash__ is None  # a dict that refuses to be written has a hash, such as a Map
    if isinstance(value, KEEPERS):
        return True
    if isinstance(value, STEADY) or callable(value) or is_frozen(kind):
        return False
    return is_users(kind) and bool(fields_of(value))


def is_users(kind: type) -> bool:
    """Return whether the class is the user's, or one of the actors and scenarios that come
    along."""
    file = getattr(sys.modules.get(kind.__module__), "__file__", None)
    return kind.__module__ == "__main__" if file is None else whose(file) in (OWN, SHIPPED)


def fields_of(value: object) -> dict[str, object]:
    """Return what an object holds, by name: in its dict, and in the slots of its classes."""
    found: dict[str, object] = dict(getattr(value, "__dict__", None) or {})
    for kind in type(value).__mro__:
        slots = vars(kind).get("__slots__", ())
        for name in (slots,) if isinstance(slots, str) else slots:
            if name not in ("__dict__", "__weakref__") and hasattr(value, name):
                found[name] = getattr(value, name)
    return found
