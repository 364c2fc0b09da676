"""Left: what was left undone when a Run ended: an object that is to go, and stays."""

from __future__ import annotations

from typing import Any

from testbed.objects.meta import field_of
from testbed.story.slice import Slice
from testbed.story.wording import DELETED, listed

FINALIZERS = "meta.finalizers"


def still_there(slice_: Slice, keys: list[str]) -> str:
    """`; notes/default/n still has its finalizer a.io/b`: of these objects and those that the
    Violation names, the first that was to be gone and has one; empty if none has."""
    end = slice_.end
    for key in dict.fromkeys([*keys, *sorted(slice_.named_keys)]):
        versions = slice_.knowledge.versions.get(key, [])
        before = [version for version in versions if version.step <= end]
        new = before[-1].change.new if before else None
        if new is None or field_of(new.value, DELETED) is None:
            continue
        kept: Any = field_of(new.value, FINALIZERS)
        if kept:
            return f"; {key} still has its finalizer {listed([*kept])}"
    return ""
