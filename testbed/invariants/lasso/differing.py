"""Differing: what two moments differ in, named so that a person finds it: by object and field, or
by task and variable, or by the part of an actor."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from itertools import zip_longest
from typing import Any

import attrs

from testbed.invariants.lasso.coarse import unsaid
from testbed.invariants.lasso.lasting import time_of
from testbed.invariants.lasso.moment import STORE, Moment
from testbed.invariants.lasso.shown import shown
from testbed.invariants.lasso.written import END
from testbed.objects.meta import Object
from testbed.store.change import plural_of

BEFORE = 3
"""How many values are told before the first that differs, in a part of many."""
NAMED_MAX = 3
"""The most objects that are named."""
NAMES = ("revision", "uid")
"""The fields that only name something, and make no difference by themselves."""
NUMBER = re.compile(r"(?:int|watched) (-?\d+)$")
TEXT = re.compile(r"(?:str|watched text) (.*)$", re.DOTALL)
SIZE = re.compile(r"(?:list|tuple|dict|Map|set|frozenset|deque) of (\d+)$")
RANK = re.compile(r"(ms|rv|step) #(\d+)$")
RANKED = {"ms": "time", "rv": "revision", "step": "turn"}

Writers = Mapping[str, Mapping[str, str]]
"""By key and field, who wrote that last."""


def difference(
    now: Moment, before: Moment, writers: Writers, named_anew: Collection[str] = ()
) -> str:
    """What two moments differ in, in words: of the Store, if that differs, else of a variable. Of
    the kinds that are named anew, only how many there are is compared."""
    if now.objects and before.objects:
        said = _of_numbers(now.objects, before.objects, named_anew)
        are, were = (_without(each.objects, named_anew) for each in (now, before))
        said = said or _of_objects(are, were, writers)
        if said:
            return said
    labels = [label for label in now.differences(before) if label != STORE]
    label = next((label for label in labels if "`" in label), labels[0] if labels else STORE)
    found = _of_part(now.texts.get(label, ""), before.texts.get(label, ""), is_whole="`" in label)
    return f"{label}: {found}" if found else label


def _without(objects: Mapping[str, object], kinds: Collection[str]) -> dict[str, object]:
    """The objects of all other kinds."""
    return {key: each for key, each in objects.items() if plural_of(key) not in kinds}


def _of_numbers(
    now: Mapping[str, object], before: Mapping[str, object], kinds: Collection[str]
) -> str:
    for kind in kinds:
        were, are = (sum(plural_of(key) == kind for key in each) for each in (before, now))
        if were != are:
            return f"the objects of {STORE}: {were} of {kind} → {are}"
    return ""


def _of_objects(now: Mapping[str, object], before: Mapping[str, object], writers: Writers) -> str:
    new = [key for key in now if key not in before]
    gone = [key for key in before if key not in now]
    if new or gone:
        said = [f"{verb} {_listed(keys)}" for verb, keys in (("new", new), ("gone", gone)) if keys]
        return f"the objects of {STORE}: {'; '.join(said)}"
    for key, value in now.items():
        for path, was, is_now in differing_fields(before[key], value):
            who = writer_of(writers, key, path)
            return f"{key} {on_the_wire(path)} {was} → {is_now}" + (
                f", set by {who}" if who else ""
            )
    return ""


def _listed(keys: list[str]) -> str:
    more = len(keys) - NAMED_MAX
    return ", ".join(keys[:NAMED_MAX]) + (f" and {more} more" if more > 0 else "")


def on_the_wire(path: str) -> str:
    """A path as a manifest begins it."""
    return f"metadata.{path[5:]}" if path.startswith("meta.") else path


def writer_of(writers: Writers, key: str, path: str) -> str:
    """The actor that wrote that field last, or a field that it is a part of; empty if unknown."""
    for each, who in writers.get(key, {}).items():
        if path == each or path.startswith((f"{each}.", f"{each}[")):
            return who
    return ""


def differing_fields(old: object, new: object) -> Iterator[tuple[str, str, str]]:
    """The paths at which two versions of an object say something else, with what they say: without
    revisions, uids, sentences for people and times that are told by their distance from now."""
    if isinstance(old, Object) and isinstance(new, Object):
        old, new = unsaid(old), unsaid(new)
    for path, was, is_now in _fields(old, new, ""):
        yield path.removeprefix("."), _shown(was, path), _shown(is_now, path)


def _fields(old: Any, new: Any, path: str) -> Iterator[tuple[str, object, object]]:
    if old is new or old == new:
        return
    if isinstance(old, dict) and isinstance(new, dict):
        for name in sorted({*old, *new}):
            yield from _fields(old.get(name), new.get(name), f"{path}.{name}")
    elif type(old) is type(new) and attrs.has(type(old)):
        for field in attrs.fields(type(old)):
            if field.name not in NAMES and time_of(field) == ("", False):
                was, is_now = getattr(old, field.name), getattr(new, field.name)
                yield from _fields(was, is_now, f"{path}.{field.name}")
    elif isinstance(old, tuple) and isinstance(new, tuple) and len(old) == len(new):
        for n, (was, is_now) in enumerate(zip(old, new, strict=True)):
            yield from _fields(was, is_now, f"{path}[{n}]")
    else:
        yield path, old, new


def _shown(value: object, path: str) -> str:
    return repr(value) if value and isinstance(value, str) else shown(value, path, 0)


def _of_part(now: str, before: str, *, is_whole: bool) -> str:
    """The first value that differs in a part of both, and unless it is one variable, what stands
    before it; empty if that is no longer kept."""
    if not now or not before:
        return ""
    mine, theirs = now.split(END), before.split(END)
    for at, (is_now, was) in enumerate(zip_longest(mine, theirs, fillvalue="nothing more")):
        if is_now != was:
            after = [] if is_whole else [in_words(each) for each in mine[max(at - BEFORE, 0) : at]]
            behind = f" (after {', '.join(after)})" if after else ""
            return f"{in_words(was)} → {in_words(is_now)}{behind}"
    return ""


def in_words(item: str) -> str:
    """What was written of a value, as a person would say it."""
    if found := NUMBER.match(item) or TEXT.match(item):
        return found[1]
    if found := SIZE.match(item):
        return f"{found[1]} items"
    if found := RANK.match(item):
        return f"the {RANKED[found[1]]} that is number {int(found[2]) + 1} by age"
    return item


def writers_of(writes: Iterable[tuple[str, str, Iterable[str]]]) -> dict[str, dict[str, str]]:
    """Who wrote each field last, given who wrote which key and fields, oldest first."""
    writers: dict[str, dict[str, str]] = {}
    for who, key, fields in writes:
        its = writers.setdefault(key, {})
        for path in fields:
            its.pop(path, None)
            its[path] = who
    return writers
