"""Cache: an actor's own view of one kind, as stale as its watch (reflector and informer).

1. List what the server has cached; after the first list, nothing older than the revision seen so
   far (API-54). Call the handlers for what was added, updated and deleted.
2. Watch from the revision of the list; apply each Delivery, and call the handlers.
3. If the watch breaks, back off (0.8 s, doubling to 30 s, and 0.8 s again if the last backoff was
   more than two minutes ago; API-55), then watch again from the last revision seen.
4. If that history is gone (Expired), relist: back to 1. If the server's own cache is older than
   the revision seen, list from the Store instead.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache
from typing import Any, Generic, TypeVar

from testbed.client.audit import ALWAYS, audited
from testbed.client.client import Client
from testbed.client.stream import NextDelivery, Stream
from testbed.code.whose import at_place, place_of_call
from testbed.errors import ApiError, Expired, UnknownName
from testbed.objects.dotted import fields_within, has_field
from testbed.objects.meta import UNSET, Map, Object, Revision, key_of
from testbed.store.delivery import DELETED, Delivery
from testbed.store.endpoint import EVERYTHING, Listing
from testbed.store.selector import Selector, differ_in, is_other
from testbed.store.store_endpoint import ANY, NOT_OLDER, TOO_LARGE
from testbed.turns.waits import Waitable

O = TypeVar("O", bound=Object)  # noqa: E741

RETRY_MS, RETRY_MS_MAX = 800, 30_000
HEALTHY_MS = 120_000

Handler = Callable[..., None]


class Cache(Generic[O]):
    """What one actor knows of one kind: an informer. Made in `run`; its reader is a task of that
    actor.

    `reads` declares the fields that the actor looks at (`("spec.node_name",)`); None declares all.
    A field that the kind does not have is refused.
    A change of other fields alone is not delivered. So the other fields of an object, its revision
    among them, may be older than the watch.

    The first list shows what the server has cached, which may be older than what an earlier life of
    the actor knew; with `quorum`, it shows what the Store holds.

    Handlers are plain functions. The reader calls them in the turn of the delivery, so they cannot
    await.
    """

    def __init__(
        self,
        client: Client,
        kind: type[O],
        selector: Selector = EVERYTHING,
        *,
        reads: tuple[str, ...] | None = None,
        quorum: bool = False,
    ) -> None:
        if reads is not None and (error := _misspelt(kind, reads, client.name)) is not None:
            with at_place(place_of_call()):
                client._table.fail(error)
                raise error
        self.kind = kind
        self.selector = selector
        self.reads = reads
        self._held: dict[str, O] = {}
        self.is_listing = False
        """Whether its handlers are being called for a list. A `delete` then gets the object as it
        was last known, which may be long ago (API-56)."""
        self._revision = UNSET
        self._quorum = quorum
        self._client = client
        self._table = client._table
        self._key = f"cache:{client.name}/{kind.plural}"
        self._handlers: list[tuple[Handler | None, Handler | None, Handler | None]] = []
        self._synced = client.signal(f"{kind.plural}-synced")
        client._life.caches.append(self)
        self.reader = client.spawn(f"cache-{kind.plural}", self._read)

    # -- what the actor sees --------------------------------------------------------------------

    @property
    def has_synced(self) -> bool:
        """Whether it has listed at least once in this life (HasSynced): to ask without waiting."""
        return self._synced.is_set

    @property
    def items(self) -> Mapping[str, O]:
        """What it holds, by key."""
        self._table.marks.reads.append(self._key)
        if not self._audits:
            return dict(self._held)
        return {key: self._shown(item) for key, item in self._held.items()}

    @property
    def revision(self) -> Revision:
        """How far it has read; unset until it has listed, and again when that has expired."""
        self._table.marks.reads.append(self._key)
        return self._revision

    @property
    def known(self) -> Mapping[str, O]:
        """`items`, for the testbed itself, whose look leaves no mark in the footprint. It is no
        copy, so it costs the same however many there are; an actor's looks into it leave theirs,
        also in later turns."""
        if self._table.running is None:
            return self._held
        if self._audits:
            return self.items
        self._table.marks.reads.append(self._key)
        return CacheItems(self)

    @property
    def upto(self) -> Revision:
        """`revision`, for the testbed itself, whose look leaves no mark in the footprint."""
        return self._revision if self._table.running is None else self.revision

    def synced(self) -> Waitable:
        """Wait until it has listed for the first time."""
        return self._synced.wait()

    def get(self, name: str, namespace: str = "default") -> O | None:
        """The object of that name as this actor knows it, or None."""
        self._table.marks.reads.append(self._key)
        item = self._held.get(key_of(self.kind, name, namespace))
        return None if item is None else self._shown(item)

    def all(self) -> list[O]:
        """All objects that it holds, in order of their keys."""
        self._table.marks.reads.append(self._key)
        return [self._shown(self._held[key]) for key in sorted(self._held)]

    def on(
        self,
        *,
        add: Handler | None = None,
        update: Handler | None = None,
        delete: Handler | None = None,
    ) -> None:
        """Add handlers, called from now on: `add(new)`, `update(old, new)`, `delete(last)`. Sets of
        handlers do not affect each other; they are called in the order they were added (API-57)."""
        for handler in (add, update, delete):
            if handler is not None and _is_async(handler):
                raise self._table.refused(
                    f"{self._client.name}: {handler.__qualname__} is async; a handler cannot await",
                    "let it put the object in a queue that a task of yours reads",
                )
        self._handlers.append((add, update, delete))

    # -- its reader -----------------------------------------------------------------------------

    async def _read(self) -> None:
        client, kind = self._client, self.kind
        projected, listed, watched = _options(None if self.reads is None else tuple(self.reads))
        at = UNSET if self._quorum else Revision(ANY)
        stream: Stream | None = None
        retry_ms = RETRY_MS
        retried_at_ms = 0
        while True:
            listing: Listing | None = None
            try:
                if not self._revision:
                    options = listed if at else projected
                    listing = await client.list(kind, self.selector, at=at, options=options)
                elif stream is None:
                    stream = await client.watch(
                        kind, self._revision, self.selector, options=watched
                    )
                else:
                    await NextDelivery(stream._watch, self._apply)
            except ApiError as error:
                # An ApiError that a handler raises is no refusal of the server's, and ends the
                # actor.
                if stream is not None and error is not stream._watch._error:
                    raise
                stream = None
                if isinstance(error, Expired):
                    # Relist, and accept nothing older than what was seen. If no list was seen since
                    # the last Expired, `at` becomes unset here, and the Store itself is asked: the
                    # server is behind what was seen, and cannot answer.
                    at, self._revision = self._revision, UNSET
                    continue
                if TOO_LARGE in error.causes:
                    at = UNSET
                    continue
                if self._table.now_ms - retried_at_ms > HEALTHY_MS:
                    retry_ms = RETRY_MS
                retried_at_ms = self._table.now_ms
                await client.sleep(retry_ms, f"retry {kind.plural}")
                retry_ms = min(2 * retry_ms, RETRY_MS_MAX)
            if listing is not None:
                self._replace(listing)

    def _replace(self, listing: Listing) -> None:
        """Replace all that it holds by a list; changes between the two are lost (API-56)."""
        self._table.marks.writes.append(self._key)
        new = {item.key: item for item in listing.items}
        old, self._held, self._revision = self._held, new, listing.revision
        self.is_listing = True
        if self._handlers:
            for key in sorted({*old, *new}):
                self._notify(old.get(key), new.get(key))
        self.is_listing = False
        self._synced.set()

    def _apply(self, delivery: Delivery) -> None:
        """Apply one Delivery, and call the handlers. A bookmark has no object: it only moves the
        revision, so that a later watch need not begin so far back."""
        self._table.marks.writes.append(self._key)
        self._revision = delivery.revision
        change = delivery._change
        if change is None:  # a bookmark
            return
        key, held = change.key, self._held
        item: Any = delivery.object
        if delivery.type == DELETED:
            if held.pop(key, None) is not None:
                self._notify(item, None)
        else:
            old = held.get(key)
            held[key] = item
            self._notify(old, item)

    def _notify(self, old: O | None, new: O | None) -> None:
        if not self._handlers:
            return
        self._table.marks.is_handed_on = True
        audits = self._audits
        if old is None:
            if new is not None:
                for add, _, _ in self._handlers:
                    if add is not None:
                        add(self._shown(new) if audits else new)
        elif new is None:
            for _, _, delete in self._handlers:
                if delete is not None:
                    delete(self._shown(old) if audits else old)
        elif self._differ(old, new):
            for _, update, _ in self._handlers:
                if update is not None:
                    update(*((self._shown(old), self._shown(new)) if audits else (old, new)))

    def _differ(self, old: O, new: O) -> bool:
        """Whether they differ in a field that the actor has declared."""
        if old is new:
            return False
        return is_other(old, new) if self.reads is None else differ_in(self.reads, old, new)

    @property
    def _audits(self) -> bool:
        """Whether it shows its objects through views."""
        return self.reads is not None and self._table.audits

    def _shown(self, item: O) -> O:
        if self.reads is None or not self._table.audits:
            return item
        return audited(item, self.reads, self._client.name, self._table.refused)


class CacheItems(Mapping[str, O]):
    """What a Cache holds by now, by key, as its actor looks into it: each look leaves a mark."""

    __slots__ = ("_cache",)

    def __init__(self, cache: Cache[O]) -> None:
        self._cache = cache

    def _look(self) -> dict[str, O]:
        cache = self._cache
        cache._table.marks.reads.append(cache._key)
        return cache._held

    def __getitem__(self, key: str) -> O:
        return self._look()[key]

    def get(self, key: str, default: Any = None) -> Any:
        """The object at that key, or else the default."""
        cache = self._cache
        cache._table.marks.reads.append(cache._key)
        return cache._held.get(key, default)

    def __len__(self) -> int:
        return len(self._look())

    def __iter__(self) -> Iterator[str]:
        return iter(tuple(self._look()))

    def values(self) -> Any:
        """The objects; no view, which would go on showing what changes."""
        return tuple(self._look().values())

    def items(self) -> Any:
        """The keys with their objects."""
        return tuple(self._look().items())

    def keys(self) -> Any:
        """The keys."""
        return tuple(self._look())


@lru_cache(1024)
def _options(reads: tuple[str, ...] | None) -> tuple[Map[Any], Map[Any], Map[Any]]:
    """How a Cache that reads these fields asks: for its first list, a later one, and a watch."""
    projected: dict[str, Any] = {} if reads is None else {"fields": reads}
    listed, watched = {**projected, "match": NOT_OLDER}, {**projected, "bookmarks": True}
    return Map(projected), Map(listed), Map(watched)


def _is_async(handler: Handler) -> bool:
    code = getattr(handler, "__code__", None)
    if code is None:  # what is called otherwise, such as a partial
        return inspect.iscoroutinefunction(handler)
    return bool(code.co_flags & inspect.CO_COROUTINE)


def _misspelt(kind: type[Object], reads: tuple[str, ...], actor: str) -> UnknownName | None:
    """The error for a declared field that the kind does not have; None if it has them all. By such
    a name a Cache would read nothing, and deliver nothing that changes."""
    for path in reads:
        if path in ALWAYS or has_field(kind, path):
            continue
        what = f"field of a {kind.kind} that the Cache of {actor} could read:"
        see = "name the field by its dotted path, `spec.node_name`; of a map, any key will do"
        return UnknownName(what, path, fields_within(kind, deep=2), see=see)
    return None
