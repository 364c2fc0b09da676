"""Coarse: the state of the Store, told so that it costs little to see that it comes back.

Two equal states are only a suspicion: what actors hold is no part of it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import attrs

from testbed.invariant import Evidence, Invariant
from testbed.invariants.lasso.lap import Write
from testbed.invariants.lasso.likeness import Likeness
from testbed.invariants.lasso.written import digest_of
from testbed.objects.codec import encode
from testbed.objects.meta import Object, evolved, field_of
from testbed.store.change import Change

WORD = 1 << 64

SAID_MAX = 4
"""How many values of a field are remembered."""

Abstraction = Callable[[Evidence], object]
"""Says the state as coarsely as a person would, in plain data."""


class Multiset:
    """What all objects say, without their names, as a sum with one number for each object. So a
    commit costs only what it changes."""

    def __init__(self, minds: Callable[[str], bool]) -> None:
        self._minds = minds
        self._weights: dict[str, int] = {}
        self._sum = 0
        self._has_begun = False

    def state(self, evidence: Evidence) -> str:
        """The state now; called at each commit."""
        if not self._has_begun:
            self._has_begun = True
            for entry in evidence.store.snapshot(""):
                self._weigh(entry.key, entry.value)
        for change in evidence.changes:
            self._weigh(change.key, change.after)
        return f"{self._sum:x}"

    def _weigh(self, key: str, value: object) -> None:
        if not self._minds(key):
            return
        weight = 0 if value is None else _weight(key, value)
        self._sum = (self._sum + weight - self._weights.pop(key, 0)) % WORD
        if weight:
            self._weights[key] = weight


class Returning:
    """Counts how often a field is set back to what it said before, or what was deleted is created
    again. It costs little, and it sees laps in which something else counts on."""

    def __init__(self) -> None:
        self.times = 0
        """How often that was for the field, or the object, for which it was most often."""
        self._said: dict[tuple[str, str], tuple[list[object], int]] = {}
        """By key and path, the last values, latest last, and how often one of them came back."""

    def note(self, write: Write, key: str) -> None:
        """Note a write of the object of that key."""
        old, new = write.change.old, write.change.new
        if old is None or new is None:
            self._set(key, "", old is not None, new is not None)
            return
        for path in write.fields:
            self._set(key, path, field_of(old.value, path), field_of(new.value, path))

    def _set(self, key: str, path: str, was: object, now: object) -> None:
        values, times = self._said.get((key, path)) or ([was], 0)
        if values[-1] == now:
            return
        if now in values:
            values.remove(now)
            times += 1
            self.times = max(self.times, times)
        self._said[key, path] = ([*values[1 - SAID_MAX :], now], times)


class Abstracted:
    """What the scenario's own `abstraction` says of the state."""

    def __init__(self, abstraction: Abstraction, claim: Invariant) -> None:
        self._abstraction = abstraction
        self._claim = claim

    def state(self, evidence: Evidence) -> str:
        """The state now; called at each commit."""
        likeness = Likeness({})
        likeness.begin("what the abstraction says")
        likeness.write(evidence.ask(self._claim, self._abstraction))
        return digest_of(repr(likeness.digests()).encode())


def _weight(key: str, value: object) -> int:
    """A number for what an object says: its kind, its labels, and all fields but `meta`."""
    if not isinstance(value, Object):
        return int(digest_of(f"{key} {value!r}".encode()), 16)
    value = unsaid(value)
    fields: list[Any] = [value.plural, value.meta.labels]
    fields += [getattr(value, field.name) for field in attrs.fields(type(value))[1:]]
    return int(digest_of(encode(fields)), 16)


def unsaid(value: Object) -> Object:
    """An object without the sentences of its conditions, which are for people, as Events are; the
    object itself if it has none."""
    status = getattr(value, "status", None)
    conditions = getattr(status, "conditions", ())
    if not conditions or not any(each.message for each in conditions):
        return value
    silent = tuple([evolved(each, message="") for each in conditions])
    return evolved(value, status=evolved(status, conditions=silent))


def says_more(change: Change) -> bool:
    """Whether a change of an object is more than another sentence in one of its conditions."""
    if change.old is None or change.new is None:
        return True
    old, new = change.old.value, change.new.value
    if not isinstance(old, Object) or not isinstance(new, Object):
        return True
    told = getattr(getattr(old, "status", None), "conditions", ())
    tells = getattr(getattr(new, "status", None), "conditions", ())
    return told is tells or not unsaid(old).is_as(unsaid(new))
