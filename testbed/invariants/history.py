"""Revisions strictly increase, and an object bears that of its last commit (INV-1, API-3)."""

from __future__ import annotations

from typing import ClassVar

from testbed.invariant import COMMIT, Evidence, Invariant
from testbed.objects.meta import Object
from testbed.trace import Step


class RevisionsIncrease(Invariant):
    """Every commit has a newer revision than all before it, and changes something."""

    name = "revisions_increase"
    reads = frozenset()
    looks_at: ClassVar[frozenset[str]] = frozenset({COMMIT})

    def __init__(self) -> None:
        self._last = 0
        self._serial = 0

    def look(self, step: Step | None, evidence: Evidence) -> str | None:
        before = self._last
        for change in evidence.changes:
            if change.revision <= before or change.revision < self._last:
                return f"rv {change.revision} of {change.key} was committed after rv {self._last}"
            if change.serial <= self._serial:
                return f"change {change.serial} of {change.key} came after {self._serial}"
            self._last, self._serial = change.revision, change.serial
            new = change.new
            if new is not None and isinstance(new.value, Object):
                if str(new.value.meta.revision) != str(change.revision):
                    return f"{change.key} says {new.value.meta.revision!r} at rv {change.revision}"
                old = None if change.old is None else change.old.value
                if isinstance(old, Object) and old.is_as(new.value):
                    return f"rv {change.revision} changes nothing of {change.key}"
        return None
