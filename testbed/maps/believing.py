"""Believing: what there is in a state, and what each actor believes, as far as that is known.

An actor believes what its Caches hold; of other kinds, what stands in the variables of its tasks
and was once in the Store, even if the Store has forgotten that since. That is all part of what
states are compared by, so it is the same on each way that leads there. Of an actor that digests
itself the variables are not.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import attrs

from testbed.invariants.lasso.moment import EVENTS, tells_time
from testbed.maps.describing import Shown, described, revision_of
from testbed.objects.meta import Object
from testbed.store.change import Change
from testbed.store.delivery import Delivery
from testbed.store.endpoint import Listing
from testbed.store.store import Store
from testbed.turns.life import Life
from testbed.world.world import World

DEPTH_MAX = 4
"""How deep lists are looked into for objects."""
UNKNOWN, NOT_BEGUN, ENDED = -1, -2, -3
"""What stands for a belief that the state does not say, and for that of an actor that is not
there: before its first life, and after one."""
NOW, OLDER = 1, 0
"""What stands for a revision: whether that version is the one in the Store."""

Held = tuple[str, object, int]
"""A key, an object, and whether it is the one in the Store."""


class Tables:
    """The versions of a map and the sets of them, each once."""

    def __init__(self) -> None:
        self.versions: list[Shown] = []
        self.sets: list[list[int]] = []
        self._numbers: dict[str, int] = {}
        self._sets: dict[tuple[int, ...], int] = {}

    def add(self, held: Mapping[str, Held]) -> int:
        """The number of the set of these objects."""
        numbers = tuple(sorted(self._number(*held[key]) for key in held))
        if numbers not in self._sets:
            self._sets[numbers] = len(self.sets)
            self.sets.append(list(numbers))
        return self._sets[numbers]

    def _number(self, key: str, value: object, age: int) -> int:
        shown = described(key, value, age, is_timed=False)
        text = repr(shown)
        if text not in self._numbers:
            self._numbers[text] = len(self.versions)
            self.versions.append(shown)
        return self._numbers[text]


class CommittedVersions:
    """Each version of an object that a commit has left in one Run. A compaction takes none away."""

    def __init__(self) -> None:
        self._versions: dict[tuple[str, int], object] = {}

    def note(self, change: Change) -> None:
        """Note one more commit; to be told of it before the next turn."""
        self._versions[change.key, change.revision] = change.after

    def has(self, item: Object) -> bool:
        """Whether a commit has left it so: it is no object that an actor has yet to write."""
        return bool(self._versions.get((item.key, revision_of(item))) == item)


def truth(world: World) -> dict[str, Held]:
    """What the Store holds, Events aside."""
    return {
        entry.key: (entry.key, entry.value, NOW)
        for entry in world.store.snapshot("")
        if not entry.key.startswith(EVENTS)
    }


def beliefs(world: World, committed: CommittedVersions) -> list[dict[str, Held] | int]:
    """What each actor believes, by the names of the actors; or why that cannot be said."""
    found: list[dict[str, Held] | int] = []
    for role in world.evidence.actors:
        life = role.life
        if life is None:
            found.append(NOT_BEGUN)
        elif not life.is_alive:
            found.append(ENDED)
        else:
            found.append(_believed(life, world.store, committed))
    return found


def _believed(life: Life, store: Store, committed: CommittedVersions) -> dict[str, Held] | int:
    is_digested = tells_time(life) or hasattr(life.role.actor, "digest")
    if is_digested and not life.caches:
        return UNKNOWN
    known: dict[str, object] = {}
    for cache in life.caches:
        for key in sorted(cache.known):
            known.setdefault(key, cache.known[key])
    kinds = {cache.kind.plural for cache in life.caches}
    if not is_digested:
        for item in _held(life):
            key = item.key
            if item.plural in kinds or not committed.has(item):
                continue
            if key not in known or revision_of(item) > revision_of(known[key]):
                known[key] = item  # of several versions it goes by the newest
    return {
        key: (key, value, _age(value, store))
        for key, value in sorted(known.items())
        if not key.startswith(EVENTS)
    }


def _age(value: Any, store: Store) -> int:
    entry = store.peek(value.key)
    is_now = entry is not None and entry.revision == revision_of(value)
    return NOW if is_now else OLDER


def _held(life: Life) -> Iterator[Object]:
    """The objects in the variables of its tasks, in a stated order."""
    for seat in life.seats.values():
        task: Any = seat.coro
        while (frame := getattr(task, "cr_frame", None)) is not None:
            names = frame.f_locals
            for name in sorted(names):  # their own order is not the same on each Python
                value = names[name]
                if value is life.role.actor:
                    for part in _parts(value):
                        yield from _within(part, DEPTH_MAX)
                else:
                    yield from _within(value, DEPTH_MAX)
            task = task.cr_await


def _parts(actor: Any) -> list[object]:
    """What an actor keeps in itself."""
    if attrs.has(type(actor)):
        return [getattr(actor, each.name, None) for each in attrs.fields(type(actor))]
    return list(vars(actor).values()) if hasattr(actor, "__dict__") else []


def _within(value: object, deep: int) -> Iterator[Object]:
    if isinstance(value, Object):
        yield value
    elif not deep:
        return
    elif isinstance(value, Listing):
        yield from value.items
    elif isinstance(value, Delivery):
        yield from _within(value.object, deep - 1)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from _within(item, deep - 1)
    elif isinstance(value, dict):
        for key in value:
            yield from _within(value[key], deep - 1)
