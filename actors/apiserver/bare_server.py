"""BareServer: an API server without its verbs, and with all that it keeps in memory."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from actors.apiserver.names import generated
from actors.apiserver.switches import APISERVER, ApiServerSwitches
from testbed import StoreEndpoint
from testbed.objects import Meta, Object, ScopedRequirement
from testbed.objects.meta import prefix_of, text_of
from testbed.store.change import Change
from testbed.store.endpoint import Operation, creator_of
from testbed.store.footprint import HISTORY, LOG, NOTHING, Footprint
from testbed.store.watch import Cursor
from testbed.switches import Component, told

EVENTS_KEPT = 100
"""The last 100 Changes of a kind can always be replayed to a watch."""
KEPT_MS = 75_000
"""And so can all Changes that are younger than this (API-43)."""


class BareServer(StoreEndpoint):
    """An API server without its verbs; ApiServer adds those.

    A verb gets it as `call.server`, and uses it to look at other objects, to name new ones and to
    open watches. Its watch cache is a cursor for each kind: how far this server has read the
    history of that kind. A kind in `lags` is read one Change at a time, each `lag_ms` after its
    commit at the earliest; the cursor of any other kind follows the Store at once. Everything here
    is lost when the server crashes.
    """

    is_front = True
    marks_memory = True
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
        """A pod that is `limited` is refused unless a quota covers it (PRI-23). An actor that is
        `authorized` may name a system class, if the switch asks for that (PRI-17)."""
        super().__init__(store, name, lags=lags, lag_ms=lag_ms)
        self.limited = limited
        self.authorized = authorized
        self.told = told(profile, switches)
        self.switches: ApiServerSwitches = APISERVER.told(self.told)
        self._own: dict[str, Any] = {}
        """By key, objects that this server has written and may not have read back yet."""
        self._names_given: dict[str, int] = {}
        """By creator and prefix, how many names this server has generated."""
        self._began: int = store.unmarked.revision
        """The revision at which it began to read; older Changes cannot be replayed."""
        self._has_restarted = False

    def begin(self) -> None:
        """Open the cursors of the kinds that lag, at the revision of now."""
        self._began = self.store.unmarked.revision
        for plural in self._lags:
            self.cursor(plural)

    def restart(self) -> None:
        """Begin with an empty memory; nothing older can be replayed to a watch."""
        super().restart()
        self._has_restarted = True
        self._own.clear()
        # `_names_given` is kept: it stands for the random suffix of a generated name, and a server
        # that restarts must not give a name again.
        self.begin()

    # -- identity -------------------------------------------------------------------------------

    def stamp(self, caller: str, now_ms: int, item: Object) -> Object:
        """A new object with its uid and its time of creation."""
        return self._made(item, caller, now_ms)

    def next_name(self, meta: Meta, caller: str) -> str:
        """The name that the next object of that prefix and creator will get (API-9)."""
        # Kubernetes draws the suffix at random. Here it is a hash of who creates for what owner,
        # and how often: the same in every Run, and not dependent on what other actors create.
        creator = self._creator(meta, caller)
        ordinal = self._names_given.get(f"{creator}/{meta.generate_name}", 0) + 1
        return generated(meta.generate_name, creator, ordinal)

    def give_name(self, meta: Meta, caller: str) -> str:
        """Generate that name, and never generate it again."""
        name = self.next_name(meta, caller)
        counter = f"{self._creator(meta, caller)}/{meta.generate_name}"
        self.store.mark(writes=(f"uids:{creator_of(self.name, caller)}",))
        self._names_given[counter] = self._names_given.get(counter, 0) + 1
        return name

    def _creator(self, meta: Meta, caller: str) -> str:
        """This server, the actor that asks it, and the first owner of the new object, if any. Two
        servers count apart, since neither knows what the other has generated."""
        creator = creator_of(self.name, caller)
        return f"{creator}/{meta.owners[0].uid}" if meta.owners else creator

    # -- the watch cache ------------------------------------------------------------------------

    def cached(self, plural: str, key: str) -> Any:
        """The object at `key` as this server has it cached, or None."""
        at = self._cached_at(plural)
        entry = self.store.get(key) if at is None else self.store.unmarked.peek(key, at)
        return None if entry is None else entry.value

    def all_cached(self, kind: type[Object], namespace: str | None = None) -> list[Any]:
        """All objects of a kind as this server has them cached."""
        at, prefix = self._cached_at(kind.plural), prefix_of(kind, namespace)
        read = self.store.range(prefix) if at is None else self.store.unmarked.snapshot(prefix, at)
        return [entry.value for entry in read]

    def all_stored(self, kind: type[Object], namespace: str | None = None) -> list[Any]:
        """All objects of a kind as the Store has them now."""
        return [entry.value for entry in self.store.range(prefix_of(kind, namespace))]

    def _cached_at(self, plural: str) -> int | None:
        """The revision at which the cache of a kind stands, noted in the footprint; None if it
        follows the Store."""
        cursor = self.cursor(plural)
        if not cursor.follows:
            self.store.mark(reads=(cursor.key, HISTORY))
        return self.read_to(cursor)

    def remember(self, item: Object) -> None:
        """Keep an object that this server has just written, if its cache of that kind lags."""
        cursor = self.cursor(item.plural)
        if not cursor.follows:
            self.store.mark(writes=(cursor.key,))
            self._own[item.key] = item

    def newest(self, item: Any) -> Any:
        """The newer of a cached object and what this server has itself written at its key."""
        own = self._own.get(item.key)
        if own is None or int(text_of(own.meta.revision)) <= int(text_of(item.meta.revision)):
            return item
        return own

    # -- footprints -----------------------------------------------------------------------------

    def reading(self, plural: str, namespace: str | None = None) -> Footprint:
        """The footprint of listing a kind, or a kind in one namespace."""
        keys = self._keys(plural, namespace)
        return Footprint(reads=frozenset(keys)) | self.lagging(plural)

    def lagging(self, plural: str) -> Footprint:
        """The footprint of reading the watch cache of a kind that lags; the first read opens its
        cursor."""
        if plural not in self._lags:
            return NOTHING
        cursor = frozenset({f"cursor:{self.name}/{plural}"})
        return Footprint(cursor | {HISTORY, f"{LOG}{plural}"}, cursor)

    def writing(self, plural: str, namespace: str | None = None) -> Footprint:
        """What a change of any object of a kind, or of a kind in one namespace, may touch."""
        keys = self._keys(plural, namespace)
        return Footprint(frozenset(keys), frozenset(keys)) | self.tails(plural)

    def _keys(self, plural: str, namespace: str | None) -> set[str]:
        """The log of the kind, the objects that exist, and those that are deleted and that its
        lagging cache still shows."""
        prefix = f"{plural}/" if namespace is None else f"{plural}/{namespace}/"
        unmarked = self.store.unmarked
        keys = {entry.key for entry in unmarked.snapshot(prefix)} | {f"{LOG}{plural}"}
        cursor = self.cursors.get(plural)
        at = None if cursor is None else self.read_to(cursor)
        return keys if at is None else keys | {e.key for e in unmarked.snapshot(prefix, at)}

    # -- watches --------------------------------------------------------------------------------

    def since(self, operation: Operation, revision: int) -> int:
        """The revision after which a watch begins, noted as a look into the history."""
        return self._dated(operation) or revision

    def first(self, operation: Operation) -> list[Change]:
        """The cached objects that are selected, each as a Change that adds it."""
        cursor, view = self.cursor(operation.plural), operation.view
        self.store.mark(reads=sorted(view.logs) if cursor.follows else (cursor.key,))
        entries = self.store.unmarked.snapshot(f"{operation.plural}/", self.read_to(cursor))
        chosen = [entry for entry in entries if operation.selector.has(entry)]
        return [Change(entry._revision, entry.key, None, entry, 0) for entry in chosen]

    def has_dropped(self, plural: str) -> bool:
        """Whether there may be Changes of a kind that it cannot replay any more."""
        return self._has_restarted or len(self.store.unmarked.log(plural).changes) > EVENTS_KEPT

    def oldest(self, cursor: Cursor, now_ms: int) -> int:
        """The oldest revision whose Change can still be replayed to a watch (API-42, API-43)."""
        # A watch cache drops a Change only when it is both older than 75 s and followed by 100
        # others of its kind. A restart drops all of them.
        began = self._began + 1
        changes = self.store.unmarked.log(cursor.plural).changes
        if self.has_dropped(cursor.plural):
            # Which of two revisions is older depends on the order of all commits.
            self.store.look_back()
        if len(changes) <= EVENTS_KEPT:
            return began
        young = self.store.unmarked.first_after(now_ms - KEPT_MS)
        return max(began, min(changes[-EVENTS_KEPT].revision, young))
