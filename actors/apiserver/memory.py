"""Desk: all that one API server remembers: how far it has read, and what it has counted."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from actors.apiserver.names import generated
from actors.apiserver.switches import APISERVER, ApiServerSwitches
from testbed import StoreEndpoint
from testbed.objects import Meta, Object, ScopedRequirement
from testbed.objects.meta import prefix_of
from testbed.store.change import Change
from testbed.store.endpoint import Operation, creator_of
from testbed.store.footprint import HISTORY, LOG, NOTHING, Footprint
from testbed.store.watch import Cursor
from testbed.switches import Component, told

EVENTS_KEPT = 100
"""So many Changes of a kind it can always tell again."""
KEPT_MS = 75_000
"""And those that are no older than this (API-43)."""


class Desk(StoreEndpoint):
    """What the verbs ask of the server they belong to. It is lost when the server crashes."""

    is_front = True
    component: ClassVar[Component] = APISERVER

    def __init__(
        self,
        store: Any,
        name: str = "api",
        *,
        lags: tuple[str, ...] = (),
        lag_ms: int = 0,
        profile: str = "",
        switches: Mapping[str, Any] | None = None,
        limited: tuple[ScopedRequirement, ...] = (),
        authorized: tuple[str, ...] = (),
    ) -> None:
        """`limited` pods are refused where no quota is about them (PRI-23); who is `authorized`
        may name a system class, where that is asked (PRI-17)."""
        super().__init__(store, name, lags=lags, lag_ms=lag_ms)
        self.limited = limited
        self.authorized = authorized
        self.told = told(profile, switches)
        self.switches: ApiServerSwitches = APISERVER.told(self.told)
        self._own: dict[str, Any] = {}
        """What it has written itself and may not have read yet, where it asked to remember it."""
        self._names_given: dict[str, int] = {}
        self._began: int = store.revision
        """Where it began to read; it can tell of no Change before that."""

    def begin(self) -> None:
        """It has read what there is, and reads on from there."""
        self._began = self.store.revision
        for plural in self._lags:
            self.cursor(plural)

    def restart(self) -> None:
        """Begin anew; it can tell of nothing that was before."""
        super().restart()
        self._own.clear()
        self.begin()

    def stamp(self, caller: str, now_ms: int, item: Object) -> Object:
        """A new object with an identity of its own."""
        return self._made(item, caller, now_ms)

    def next_name(self, meta: Meta, caller: str) -> str:
        """What it will call the next object of that prefix and creator (API-9)."""
        creator = self._creator(meta, caller)
        ordinal = self._names_given.get(f"{creator}/{meta.generate_name}", 0) + 1
        return generated(meta.generate_name, creator, ordinal)

    def give_name(self, meta: Meta, caller: str) -> str:
        """Give that name, and never again."""
        name = self.next_name(meta, caller)
        what = f"{self._creator(meta, caller)}/{meta.generate_name}"
        self.store.mark(writes=(f"uids:{creator_of(self.name, caller)}",))
        self._names_given[what] = self._names_given.get(what, 0) + 1
        return name

    def _creator(self, meta: Meta, caller: str) -> str:
        """For whom it is created: its first owner, by whoever asks for it, and asks this server:
        another one counts for itself."""
        creator = creator_of(self.name, caller)
        return f"{creator}/{meta.owners[0].uid}" if meta.owners else creator

    def as_read(self, plural: str, key: str) -> Any:
        """The object at that key, as far as this server has read its kind; None."""
        entry = self.store.get(key, self._looked_up_at(plural))
        return None if entry is None else entry.value

    def all_read(self, kind: type[Object], namespace: str | None = None) -> list[Any]:
        """All objects of a kind, as far as this server has read it."""
        at = self._looked_up_at(kind.plural)
        return [entry.value for entry in self.store.range(prefix_of(kind, namespace), at)]

    def all_there(self, kind: type[Object], namespace: str | None = None) -> list[Any]:
        """All objects of a kind, as they are now."""
        return [entry.value for entry in self.store.range(prefix_of(kind, namespace))]

    def _looked_up_at(self, plural: str) -> int | None:
        """As of when it looks at a kind, noted if that is in the past; None: as it is now."""
        cursor = self.cursor(plural)
        if not cursor.follows:
            self.store.mark(reads=(cursor.key,))
        return self.read_to(cursor)

    def remember(self, item: Object) -> None:
        """Keep what it has just written, if it may be long until it reads it."""
        cursor = self.cursor(item.plural)
        if not cursor.follows:
            self.store.mark(writes=(cursor.key,))
            self._own[item.key] = item

    def newest(self, item: Any) -> Any:
        """An object as it was read, or as this server has written it since."""
        own = self._own.get(item.key)
        if own is None or int(str(own.meta.revision)) <= int(str(item.meta.revision)):
            return item
        return own

    # -- footprints -----------------------------------------------------------------------------

    def reading(self, plural: str, namespace: str | None = None) -> Footprint:
        """What a look at all of a kind, or at those in one namespace, may touch: as far as it was
        read, where that lags."""
        keys = self._keys(plural, namespace)
        return Footprint(reads=frozenset(keys)) | self.lagging(plural)

    def lagging(self, plural: str) -> Footprint:
        """What it takes to look as far as was read; the first look makes the cursor."""
        if plural not in self._lags:
            return NOTHING
        cursor = frozenset({f"cursor:{self.name}/{plural}"})
        return Footprint(cursor | {HISTORY, f"{LOG}{plural}"}, cursor)

    def writing(self, plural: str, namespace: str | None = None) -> Footprint:
        """What a change of any object of a kind, or of those in one namespace, may touch."""
        keys = self._keys(plural, namespace)
        return Footprint(frozenset(keys), frozenset(keys)) | self.tails(plural)

    def _keys(self, plural: str, namespace: str | None) -> set[str]:
        """The kind's log, the objects there are, and those that are gone and it has not read so
        far."""
        prefix = f"{plural}/" if namespace is None else f"{plural}/{namespace}/"
        keys = {entry.key for entry in self.store.snapshot(prefix)} | {f"{LOG}{plural}"}
        cursor = self.cursors.get(plural)
        at = None if cursor is None else self.read_to(cursor)
        return keys if at is None else keys | {e.key for e in self.store.snapshot(prefix, at)}

    # -- watches --------------------------------------------------------------------------------

    def since(self, operation: Operation, revision: int) -> int:
        """The point a watch is opened at, noted as what the order of all before it matters to."""
        return self._dated(operation) or revision

    def first(self, operation: Operation) -> list[Change]:
        """What there is already, told as if it had just been added."""
        cursor, view = self.cursor(operation.plural), operation.view
        self.store.mark(reads=sorted(view.logs) if cursor.follows else (cursor.key,))
        entries = self.store.snapshot(f"{operation.plural}/", self.read_to(cursor))
        chosen = [entry for entry in entries if operation.selector.has(entry)]
        return [Change(entry.revision, entry.key, None, entry, 0) for entry in chosen]

    def oldest(self, cursor: Cursor, now_ms: int) -> int:
        """The oldest revision whose Change it can still tell a watch of (API-42, API-43)."""
        began = self._began + 1
        changes = self.store.log(cursor.plural).changes
        if len(changes) <= EVENTS_KEPT:
            return began
        young = self.store.first_after(now_ms - KEPT_MS)
        return max(began, min(changes[-EVENTS_KEPT].revision, young))
