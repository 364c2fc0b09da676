"""Audit: shows objects through views, so that to read an undeclared field is an error.

A search may leave out a Run because of what a Cache has declared in `reads=`. If an actor reads
another field all the same, that Run was left out wrongly, and no figure would show it. So a World
with `audit=True` gives its actors views in place of objects. A view gives out declared fields only,
and refuses all that looks at the whole object: methods, `==`, `hash`, iteration, `len`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeVar, cast

import attrs

from testbed.errors import ScenarioError
from testbed.store.selector import is_whole

T = TypeVar("T")

ALWAYS = ("meta.name", "meta.namespace", "meta.uid", "key", "kind", "plural")
"""The identity of an object, which may always be read. The revision is not part of it: to read
that is to learn of every change."""


def audited(
    item: T, declared: tuple[str, ...], actor: str, refused: Callable[[str, str], ScenarioError]
) -> T:
    """The object behind a view that allows only the declared fields and what lies below them.
    `refused` makes the error and keeps it, so the Run ends even if the actor catches it."""
    return cast(T, _View(item, "", (*declared, *ALWAYS), actor, refused))


class _View:
    """Looks like the object at a dotted path, and refuses to show what is not declared."""

    __slots__ = ("_actor", "_declared", "_item", "_path", "_refused")

    def __init__(
        self,
        item: Any,
        path: str,
        declared: tuple[str, ...],
        actor: str,
        refused: Callable[[str, str], ScenarioError],
    ) -> None:
        self._item = item
        self._path = path
        self._declared = declared
        self._actor = actor
        self._refused = refused

    @property  # type: ignore[misc]
    def __class__(self) -> type:
        return type(self._item)

    def __getattr__(self, name: str) -> Any:
        value = getattr(self._item, name)
        if callable(value):
            return self._whole(name)
        return self._seen(name, value)

    def __getitem__(self, name: str) -> Any:
        shown = self._seen(name, self._item.get(name))
        if name not in self._item:
            raise KeyError(name)
        return shown

    def get(self, name: str, default: Any = None) -> Any:
        """Like `get` of a Map."""
        return self._seen(name, self._item.get(name, default))

    def __eq__(self, other: object) -> bool:
        self._whole("==")
        return bool(self._item == (other._item if isinstance(other, _View) else other))

    def __hash__(self) -> int:
        return hash(self._whole("hash"))

    def __iter__(self) -> Any:
        return iter(self._whole("iteration"))

    def __len__(self) -> int:
        return len(self._whole("len"))

    def __bool__(self) -> bool:
        return bool(self._whole("truth")) if isinstance(self._item, Mapping) else True

    def __contains__(self, name: str) -> bool:
        return self.get(name) is not None

    def __repr__(self) -> str:
        return f"<audited {type(self._item).__name__}{' ' + self._path if self._path else ''}>"

    def _seen(self, name: str, value: Any) -> Any:
        path = f"{self._path}.{name}" if self._path else name
        if any(path == field or path.startswith(f"{field}.") for field in self._declared):
            return value
        is_above = any(field.startswith(f"{path}.") for field in self._declared)
        if is_above and (attrs.has(type(value)) or isinstance(value, Mapping)):
            return _View(value, path, self._declared, self._actor, self._refused)
        raise self._undeclared(path)

    def _whole(self, what: str) -> Any:
        raise self._undeclared(f"{self._path or 'the whole object'} ({what})")

    def _undeclared(self, path: str) -> ScenarioError:
        kind = type(self._item).__name__
        reads = ", ".join(field for field in self._declared if field not in ALWAYS) or "nothing"
        return self._refused(
            f"{self._actor} reads {path} of a {kind} it got from its Cache, and declared {reads}",
            "add the field to `reads=` of that Cache: a Run may be skipped for what it declares",
        )


def whole(item: T) -> T:
    """The object itself, to be written. To write an object from a Cache is to read all of it, so
    the actor must have declared the revision."""
    seen: Any = item
    if type(seen) is not _View:
        return item
    if not any(is_whole(field) for field in seen._declared):
        seen._whole("written back")
    return cast(T, seen._item)


def unwrapped(item: Any) -> Any:
    """The object behind a view, or the object itself if there is no view; for the testbed, which
    may read everything."""
    return object.__getattribute__(item, "_item") if type(item) is _View else item
