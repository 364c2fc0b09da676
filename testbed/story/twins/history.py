"""History: the Changes of a Run as they are written again, without some of them.

What was written later over an object from which a write is left out keeps what it changed itself,
field by field. What was written to an object whose creation is left out goes, too, up to its
removal.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import attrs

from testbed.objects.meta import Map
from testbed.store.change import Change

WHOLE = ""
"""Stands for all that a Change did, where else one of its fields is left out."""
Undone = Mapping[int, str]
"""By serial, the Changes that are left out: WHOLE, or the one field of it that is."""


@attrs.frozen
class Written:
    """One Change of the Run, as it is written again."""

    change: Change
    value: object | None
    """What it leaves; None: nothing."""
    is_out: bool = False
    """Whether it is left out."""


def history(changes: Sequence[Change], undone: Undone) -> Iterator[Written]:
    """The Changes as they are written again without what is undone."""
    now: dict[str, object] = {}
    never_made: set[str] = set()
    for change in changes:
        key, old, new = change.key, change.before, change.after
        if change.serial in undone:
            field = undone[change.serial]
            if field and old is not None and new is not None:
                base = now.get(key, old)
                now[key] = without_field(merged(base, old, new), base, field)
                yield Written(change, now[key])
                continue
            if old is None:
                never_made.add(key)
            yield Written(change, None, is_out=True)
        elif key in never_made and old is not None:
            if new is None:
                never_made.discard(key)
            yield Written(change, None, is_out=True)
        elif new is None:
            never_made.discard(key)
            now.pop(key, None)
            yield Written(change, None)
        else:
            never_made.discard(key)
            base = now.get(key)
            now[key] = new if base is None or base is old else merged(base, old, new)
            yield Written(change, now[key])


def merged(base: Any, old: Any, new: Any) -> Any:
    """The base with what changed from old to new."""
    if old is new or old == new:
        return base
    if isinstance(old, dict) and isinstance(new, dict) and isinstance(base, dict):
        out = dict(base)
        for name in {**old, **new}:
            if name not in new:
                out.pop(name, None)
            elif old.get(name) != new[name]:
                both = name in old and name in out
                out[name] = merged(out[name], old[name], new[name]) if both else new[name]
        return Map(out) if isinstance(base, Map) else out
    if type(old) is type(new) is type(base) and attrs.has(type(old)):
        fields = [field for field in attrs.fields(type(old)) if field.init]
        given = {}
        for field in fields:
            was, now, at = (getattr(each, field.name) for each in (old, new, base))
            if field.name == "revision":
                given[field.alias] = now
            elif was is not now and was != now:
                given[field.alias] = merged(at, was, now)
        return attrs.evolve(base, **given)
    return new


def without_field(new: Any, old: Any, path: str) -> Any:
    """The new value, with that field as in the old one."""
    name, _, rest = path.partition(".")
    if isinstance(new, dict) or isinstance(old, dict):
        # A name in a Map may itself contain dots.
        new, old = new or {}, old or {}
        name, rest = (path, "") if path in new or path in old else (name, rest)
        out = dict(new)
        if rest:
            out[name] = without_field(new.get(name), old.get(name), rest)
        elif name in old:
            out[name] = old[name]
        else:
            out.pop(name, None)
        return Map(out)
    if new is None or old is None:
        return old
    value = getattr(old, name) if not rest else None
    if rest:
        value = without_field(getattr(new, name), getattr(old, name), rest)
    alias = getattr(attrs.fields(type(new)), name).alias
    return attrs.evolve(new, **{alias: value})
