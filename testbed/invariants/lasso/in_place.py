"""In place: lets the numbers that were seen to grow be watched from now on, where they are kept.

A clock gives watched numbers. A generation, or a counter in a variable, is an ordinary number that
was made from an ordinary one: so that one is replaced, and what is counted on from it is watched.

Only what this World has made itself is touched: the variables of parked tasks, the lists, dicts and
objects in them that may change, and versions of objects that were committed since the last visit.
A constant of a module never grows, and other Worlds share it.
"""

from __future__ import annotations

import ctypes
import sys
from collections import deque
from collections.abc import Collection, Mapping
from typing import Any

import attrs

from testbed.invariant import Evidence
from testbed.invariants.lasso.growth import COUNTED
from testbed.invariants.lasso.lasting import time_of
from testbed.objects.meta import Map, Meta, Object
from testbed.objects.watched import Lookout, watched

COPIES = sys.version_info < (3, 13)
"""Whether `f_locals` is a copy, which has to be written back into its frame."""
DEEP = 8
"""How deep within a variable numbers are looked for."""


class InPlace:
    """Watches numbers of one World in place."""

    def __init__(self, sight: Lookout) -> None:
        self._sight = sight
        self._values: Collection[int] = ()
        self._met: list[object] = []
        self.replaced = 0
        """How many numbers it has replaced."""

    def watch_store(self, now: Mapping[str, object], before: Mapping[str, object]) -> None:
        """Watch each number in the Store's objects that is not what it was before."""
        for key, value in now.items():
            old = before.get(key)
            if isinstance(value, Object) and isinstance(old, Object) and value is not old:
                self._watch_frozen(value, old)

    def _watch_frozen(self, value: Any, old: Any) -> None:
        # Where the old version has the same part, nothing in it has grown, and others may share it.
        if value is old or type(value) is not type(old):
            return
        if attrs.has(type(value)):
            for field in attrs.fields(type(value)):
                if time_of(field) != ("", False):
                    continue
                now, was = getattr(value, field.name), getattr(old, field.name)
                if type(now) is int and isinstance(was, int) and now != was:
                    object.__setattr__(value, field.name, self._watched(now))
                else:
                    self._watch_frozen(now, was)
        elif isinstance(value, tuple) and len(value) == len(old):
            for now, was in zip(value, old, strict=True):
                self._watch_frozen(now, was)
        elif type(value) is Map:
            for name, now in value.items():
                was = old.get(name)
                if type(now) is int and isinstance(was, int) and now != was:
                    dict.__setitem__(value, name, self._watched(now))
                else:
                    self._watch_frozen(now, was)

    def watch_tasks(self, evidence: Evidence, grown: Mapping[str, Collection[int]]) -> None:
        """Watch these numbers in the variables of parked tasks, by the label of the variable."""
        for role in evidence.actors:
            life = role.life
            for seat in life.seats.values() if life is not None and life.is_alive else ():
                task: Any = seat.coro
                while (frame := getattr(task, "cr_frame", None)) is not None:
                    self._watch_frame(frame, seat.path, grown)
                    task = task.cr_await
        for name, post in evidence.wire.posts.items():
            for request in post.requests:
                if (frame := getattr(request.handler, "gi_frame", None)) is not None:
                    self._watch_frame(frame, f"what {name} is handling", grown)
            self._values = grown.get(f"what {name} is handling", ())
            if self._values:
                self._watch_attributes(post.endpoint)

    def _watch_frame(self, frame: Any, path: str, grown: Mapping[str, Collection[int]]) -> None:
        names, code = frame.f_locals, frame.f_code.co_qualname
        for name in list(names):
            label = COUNTED.sub("#", f"{path}, `{name}` in {code}")
            self._values = grown.get(label, ())
            if not self._values:
                continue
            value = names[name]
            if type(value) is int:
                if value in self._values:
                    names[name] = self._watched(value)
                    if COPIES:
                        frame_of = ctypes.py_object(frame)
                        ctypes.pythonapi.PyFrame_LocalsToFast(frame_of, ctypes.c_int(0))
            else:
                self._met.clear()
                self._watch_within(value, DEEP)

    def _watch_within(self, value: Any, deep: int) -> None:
        """Watch the numbers in what a task can change."""
        if not deep or any(value is each for each in self._met):
            return
        self._met.append(value)
        if type(value) is dict or type(value) in (list, deque):
            items = value.items() if type(value) is dict else enumerate(value)
            for at, each in list(items):
                if type(each) is int and each in self._values:
                    value[at] = self._watched(each)
                else:
                    self._watch_within(each, deep - 1)
        elif isinstance(value, tuple):
            for each in value:
                self._watch_within(each, deep - 1)
        elif isinstance(value, Object):
            self._watch_meta(value.meta)
        elif not type(value).__module__.startswith("testbed."):
            self._watch_attributes(value, deep - 1)

    def _watch_meta(self, meta: Meta) -> None:
        """A Meta with a revision is of one commit of this World."""
        if meta.revision and type(meta.generation) is int and meta.generation in self._values:
            object.__setattr__(meta, "generation", self._watched(meta.generation))

    def _watch_attributes(self, value: Any, deep: int = DEEP) -> None:
        kind: Any = type(value)
        if kind.__setattr__ is not object.__setattr__:
            return  # it never changes, so it may be a constant
        slots = [name for each in kind.__mro__ for name in getattr(each, "__slots__", ())]
        for name in [*getattr(value, "__dict__", {}), *slots]:
            each = getattr(value, name, None)
            if type(each) is int and each in self._values:
                setattr(value, name, self._watched(each))
            elif each is not None and not isinstance(each, type):
                self._watch_within(each, deep)

    def _watched(self, value: int) -> int:
        self.replaced += 1
        return watched(value, self._sight, is_clock=False)
