"""Revisions strictly increase, and an object has that of its last commit (INV-1, API-3)."""

from __future__ import annotations

from typing import ClassVar

from testbed.invariant import COMMIT, Evidence, Invariant
from testbed.objects.meta import Object, text_of
from testbed.store.change import Change
from testbed.turns.found import TAKEN_BACK, UNEQUAL, Found, Wrong
from testbed.turns.trace import Step


class RevisionsIncrease(Invariant):
    """Every commit has a newer revision than all before it, and changes something. At rest each
    object has the revision of the last commit to it."""

    name = "revisions_increase"
    breach_reason, breach_fields = TAKEN_BACK, ("meta.revision",)
    reads = frozenset()
    looks_at: ClassVar[frozenset[str]] = frozenset({COMMIT})

    def __init__(self) -> None:
        self._last = 0
        self._serial = 0

    def look(self, step: Step | None, evidence: Evidence) -> Wrong:
        before = self._last
        for change in evidence.changes:
            if change.revision <= before or change.revision < self._last:
                text = f"rv {change.revision} of {change.key} was committed after rv {self._last}"
                return Found.of(text, change, since=change.revision)
            if change.serial <= self._serial:
                text = f"change {change.serial} of {change.key} came after {self._serial}"
                return Found.of(text, change, since=change.revision)
            self._last, self._serial = change.revision, change.serial
            if wrong := _wrong_in(change):
                return Found.of(wrong, change, since=change.revision)
        return None

    def end(self, evidence: Evidence) -> Wrong:
        store = evidence.store
        last = {change.key: change for change in store.log().changes}
        for entry in store.snapshot(""):
            change = last.get(entry.key)
            if change is not None and change.new is not entry:
                text = f"{entry.key} is not as rv {change.revision} has left it"
                return Found.of(text, entry, reason=UNEQUAL, since=change.revision)
            if isinstance(entry.value, Object):
                own = text_of(entry.value.meta.revision)
                if own != str(entry.revision):
                    text = f"{entry.key} says {own!r}, and its last commit was rv {entry.revision}"
                    return Found.of(text, entry, reason=UNEQUAL, since=entry.revision)
        return None


def _wrong_in(change: Change) -> str:
    """What is wrong with the object that one commit has left, if it has left one."""
    new = change.new
    if new is None or not isinstance(new.value, Object):
        return ""
    if text_of(new.value.meta.revision) != str(change.revision):
        return f"{change.key} says {new.value.meta.revision!r} at rv {change.revision}"
    old = change.before
    if isinstance(old, Object) and old.is_as(new.value):
        return f"rv {change.revision} changes nothing of {change.key}"
    return ""
