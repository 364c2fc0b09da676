"""Transactions as data: conditions, and what to do if they hold or not, all in one revision.

`Store.txn` performs them. They are etcd's transactions without nesting. This file refuses what etcd
refuses before it looks at any key.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from operator import eq, gt, lt, ne
from typing import Any

import attrs

from testbed.errors import Invalid
from testbed.objects.meta import looked
from testbed.store.change import Entry

ONWARD = "\0"
"""As the end of a range, no end: every key from the start on, as in etcd."""
_LAST = "\U0010ffff"
_TARGETS = ("version", "created", "revision", "value")
_SIGNS: dict[str, Callable[[Any, Any], bool]] = {"=": eq, "!=": ne, "<": lt, ">": gt}


@attrs.frozen
class Compare:
    """A condition: `Compare("pods/default/p1", "revision", "=", 7)`."""

    key: str
    target: str
    """version, created or revision (each is 0 for an absent key), or value (never true for one)."""
    sign: str
    """One of = != < >."""
    value: object

    def __attrs_post_init__(self) -> None:
        if self.sign not in _SIGNS or self.target not in _TARGETS:
            raise Invalid(
                f"cannot compare {self.target!r} by {self.sign!r}: "
                f"a target is one of {', '.join(_TARGETS)}, a sign one of {' '.join(_SIGNS)}"
            )

    def holds(self, entry: object | None) -> bool:
        """Whether it is true of `entry`, which is the Entry at its key."""
        if entry is None and self.target == "value":
            return False
        held = 0 if entry is None else getattr(entry, self.target)
        return _SIGNS[self.sign](held, self.value)


@attrs.frozen
class Put:
    """Write one key."""

    key: str
    value: object


@attrs.frozen
class Delete:
    """Remove one key, or with an `end` every key from `key` up to, but not including, `end`."""

    key: str
    end: str | None = None

    def covers(self, key: str) -> bool:
        """Whether it would remove `key`."""
        if self.end is None:
            return key == self.key
        return self.key <= key and (self.end == ONWARD or key < self.end)


@attrs.frozen
class Get:
    """Read one key, or with an `end` every key from `key` up to, but not including, `end`."""

    key: str
    end: str | None = None
    at: int | None = None
    """The revision to read at; None: the state within the transaction."""
    limit: int | None = None


@attrs.frozen
class TxnAnswer:
    """What a transaction did."""

    succeeded: bool
    """Whether every Compare held, so that `then` was performed and not `otherwise`."""
    _revision: int
    answers: tuple[tuple[Entry, ...], ...]
    """For each operation, the Entries that it wrote (Put), removed (Delete) or found (Get)."""

    @property
    def revision(self) -> int:
        """The Store's revision after it."""
        looked()
        return self._revision


def check_operations(operations: Sequence[Put | Delete | Get]) -> None:
    """Invalid if a key is empty, put twice, or both put and deleted."""
    deletes = [each for each in operations if isinstance(each, Delete)]
    puts: set[str] = set()
    for operation in operations:
        key = operation.key
        check_key(key)
        if isinstance(operation, Put):
            if key in puts or any(delete.covers(key) for delete in deletes):
                twice = "put twice" if key in puts else "both put and deleted"
                raise Invalid(f"duplicate key in a transaction: {key} is {twice}")
            puts.add(key)


def check_key(key: str) -> None:
    """Invalid if a key is empty."""
    if not key:
        raise Invalid("the key is empty; give one such as pods/default/p1")


@lru_cache(1024)
def end_of(prefix: str) -> str:
    """The first key after all keys that start with the prefix."""
    stem = prefix.rstrip(_LAST)
    return stem[:-1] + chr(ord(stem[-1]) + 1) if stem else ONWARD


def one_kind(start: str, end: str) -> str | None:
    """The one kind that a range is within; None if it may hold keys of several."""
    plural, slash, _ = start.partition("/")
    return plural if slash and end != ONWARD and end <= end_of(f"{plural}/") else None
